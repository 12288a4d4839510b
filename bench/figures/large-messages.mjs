import { print, symbol } from "sexp-parser";
import {
  Connection,
  encodeFrame,
  FrameDecoder,
  readMessage,
  tcpOpener,
} from "../../packages/swank-client/dist/protocol.js";
import { BareSocket } from "../bare-socket.mjs";
import { DrainServer } from "../drain-server.mjs";
import { ratio } from "../measure.mjs";

const SIZE = 10_000_000;
/** Maximum size in bytes of a chunk from a stream. */
const CHUNK = 65_536;
const ROUNDS = 21;

const CODE = '(format t "line ~d of \\"text\\"~%" (list i (car j))) ; comment\n';
const TEXT = CODE.repeat(SIZE / CODE.length);

/** Measures decoding and encoding messages of 10 MB against the costs of V8 and the socket alone. */
export async function largeMessages() {
  return [
    await sending(),
    await receiving("a reply of 10 MB, one string", TEXT),
    await receiving("a reply of 10 MB, small lists", smallLists()),
  ];
}

/** Created last, because the garbage collector traverses these lists in all later measurements. */
function smallLists() {
  return Array.from({ length: SIZE / 16 }, (_, index) => [index % 1000, "name", 7]);
}

/**
 * @param {string} name
 * @param {string | (string | number)[][]} value
 */
function receiving(name, value) {
  const frame = encodeFrame(`(:return (:ok ${print(value)}) 1)`);
  const chunks = Array.from({ length: Math.ceil(frame.length / CHUNK) }, (_, index) =>
    frame.subarray(index * CHUNK, (index + 1) * CHUNK),
  );
  const json = Buffer.from(JSON.stringify([":return", [":ok", value], 1]));
  return ratio(
    name,
    { what: "decoding its frame and reading the message", run: () => decodeAll(chunks) },
    { what: "Buffer.toString and JSON.parse of the same data", run: () => JSON.parse(json.toString()) },
    ROUNDS,
  );
}

/** @param {readonly Uint8Array[]} chunks */
function decodeAll(chunks) {
  const decoder = new FrameDecoder((payload) => readMessage(payload));
  for (const chunk of chunks) decoder.push(chunk);
}

async function sending() {
  const server = await DrainServer.start();
  const open = tcpOpener({ port: server.port });
  const connection = new Connection(await open());
  const socket = new BareSocket(await open());
  const form = [symbol("swank:interactive-eval"), TEXT];
  try {
    const message = socket.message(form);
    return await ratio(
      "sending 10 MB of code",
      { what: "a request of swank-client", run: () => connection.request(form, { label: "send" }) },
      { what: "the same text over a bare socket", run: () => socket.roundTrip(message) },
      ROUNDS,
    );
  } finally {
    await connection.drop();
    socket.close();
    await server.stop();
  }
}
