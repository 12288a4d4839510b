import { print, read } from "sexp-parser";
import { connect } from "swank-client";
import { launchImage } from "swank-client/launch";
import { ratio } from "../measure.mjs";

/** Code whose messages are measured: a stop with its frames, printed text, long values. */
const PROGRAM = [
  '(defun descend (n list) (if (zerop n) (error "The ~a is ~s" :bottom list) (1+ (descend (1- n) (cons n list)))))',
  "(descend 30 '())",
  "(loop for symbol being the external-symbols of :cl repeat 900 collect (list symbol (symbol-name symbol) 1.5 42))",
  '(dotimes (i 200) (format t "line ~d of \\"text\\"~%" i))',
];

/** The number of rounds is high because a round takes only a tenth of a millisecond, so few are interrupted on a busy machine. */
const ROUNDS = 4001;

/** Measures reading Swank's messages against V8's reading of the same data as JSON. */
export async function reading() {
  const messages = await recordTraffic();
  const json = messages.map((message) => JSON.stringify(toJson(read(message))));
  const size = messages.reduce((sum, { length }) => sum + length, 0);
  return [
    await ratio(
      "reading",
      {
        what: `${messages.length} recorded messages, ${size} characters`,
        run: () => messages.map((message) => read(message)),
      },
      { what: "JSON.parse of the same data", run: () => json.map((text) => JSON.parse(text)) },
      ROUNDS,
    ),
  ];
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
 * Wraps the opener of a transport so that it records all received bytes.
 *
 * @param {import("swank-client/protocol").TransportOpener} open
 * @param {Uint8Array[]} chunks
 * @returns {import("swank-client/protocol").TransportOpener}
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
 * Converts data to JSON: lists to arrays, everything else to the nearest JSON value.
 *
 * @param {import("sexp-parser").Sexp} datum
 * @returns {unknown}
 */
function toJson(datum) {
  if (Array.isArray(datum)) return datum.map(toJson);
  if (typeof datum === "string" || typeof datum === "number") return datum;
  return print(datum);
}
