import { print, read } from "sexp-parser";
import { connect } from "swank-client";
import { launchImage } from "swank-client/launch";
import { ratio } from "../measure.mjs";

/** Code whose messages are the traffic: a stop with its frames, printed text, long values. */
const PROGRAM = [
  '(defun descend (n list) (if (zerop n) (error "The ~a is ~s" :bottom list) (1+ (descend (1- n) (cons n list)))))',
  "(descend 30 '())",
  "(loop for symbol being the external-symbols of :cl repeat 900 collect (list symbol (symbol-name symbol) 1.5 42))",
  '(dotimes (i 200) (format t "line ~d of \\"text\\"~%" i))',
];

/** Reading what Swank sends against what V8 does with the same data as JSON. */
export async function reading() {
  const messages = await recordTraffic();
  const json = messages.map((message) => JSON.stringify(toJson(read(message))));
  const size = messages.reduce((sum, { length }) => sum + length, 0);
  return [
    await ratio(
      "reading",
      {
        what: `${messages.length} recorded messages, ${size} characters`,
        run: () => repeatedly(() => messages.map((message) => read(message))),
      },
      { what: "JSON.parse of the same data", run: () => repeatedly(() => json.map((text) => JSON.parse(text))) },
      41,
    ),
  ];
}

/** @param {() => unknown} work shorter than a clock can tell */
function repeatedly(work) {
  for (let round = 0; round < 50; round++) work();
}

/** @returns {Promise<string[]>} the messages that an image sends for the program */
async function recordTraffic() {
  const image = await launchImage();
  /** @type {Uint8Array[]} */
  const chunks = [];
  const client = await connect({ transport: recording(image.transport, chunks), secret: false });
  for (const code of PROGRAM) await client.evaluate(code).next();
  for (const session of client.stops) await session.frames(0, 60);
  await client.close();
  await image.stop();
  return payloads(Buffer.concat(chunks));
}

/**
 * The same way to an image, with everything that comes from there kept.
 *
 * @param {import("swank-client").TransportOpener} open
 * @param {Uint8Array[]} chunks
 * @returns {import("swank-client").TransportOpener}
 */
function recording(open, chunks) {
  return async (signal) => {
    const factory = await open(signal);
    return ({ onData, onClose }) =>
      factory({ onData: (chunk) => onData(chunks[chunks.push(chunk) - 1] ?? chunk), onClose });
  };
}

/** @param {Buffer} bytes */
function payloads(bytes) {
  const messages = [];
  for (let start = 0; start < bytes.length; ) {
    const end = start + 6 + Number.parseInt(bytes.toString("latin1", start, start + 6), 16);
    messages.push(bytes.toString("utf8", start + 6, end));
    start = end;
  }
  return messages;
}

/**
 * Lists as arrays, everything else as the nearest that JSON has.
 *
 * @param {import("sexp-parser").Sexp} datum
 * @returns {unknown}
 */
function toJson(datum) {
  if (Array.isArray(datum)) return datum.map(toJson);
  if (typeof datum === "string" || typeof datum === "number") return datum;
  return print(datum);
}
