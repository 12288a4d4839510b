import { Buffer } from "node:buffer";
import { SwankError } from "../errors.js";
import { HEADER_LENGTH, MAX_PAYLOAD_LENGTH } from "./frame-encoder.js";

/** How much of unexpected bytes an error shows. */
const PREVIEW_LENGTH = 80;

/** Options of {@link FrameDecoder}. */
export interface FrameDecoderOptions {
  /** The largest payload accepted, in bytes; default 16777215, the most that the protocol can express. */
  readonly limit?: number | undefined;
}

/** Cuts a stream of bytes into the payloads of its frames, however the stream is divided. */
export class FrameDecoder {
  readonly #onPayload: (payload: string) => void;
  readonly #limit: number;
  readonly #header = Buffer.alloc(HEADER_LENGTH);
  /** Bytes of the header that are there. */
  #headerLength = 0;
  /** The payload being collected; `undefined` while in a header. */
  #payload: Buffer | undefined;
  /** Bytes of the payload that are there. */
  #payloadLength = 0;

  /** @param onPayload - Gets each payload as soon as its last byte is there. */
  constructor(onPayload: (payload: string) => void, options: FrameDecoderOptions = {}) {
    this.#onPayload = onPayload;
    this.#limit = options.limit ?? MAX_PAYLOAD_LENGTH;
  }

  /** In the middle of a frame. */
  get isPartial(): boolean {
    return this.#headerLength > 0;
  }

  /**
   * Takes the next bytes of the stream.
   *
   * The stream cannot be picked up again after an error.
   *
   * @throws SwankError `BAD_FRAME` (the header is no number) or `FRAME_TOO_LARGE`
   */
  push(chunk: Uint8Array): void {
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    while (rest.length > 0)
      rest = this.#payload === undefined ? this.#readHeader(rest) : this.#fill(this.#payload, rest);
  }

  /** Returns what is left of the bytes. */
  #readHeader(bytes: Buffer): Buffer {
    const taken = bytes.copy(this.#header, this.#headerLength);
    this.#headerLength += taken;
    const rest = bytes.subarray(taken);
    if (this.#headerLength < HEADER_LENGTH) return rest;
    const length = this.#parseHeader(rest);
    if (length <= rest.length) {
      this.#finish(rest.subarray(0, length));
      return rest.subarray(length);
    }
    this.#payload = Buffer.allocUnsafe(length);
    return rest;
  }

  #parseHeader(rest: Buffer): number {
    const header = this.#header.toString("latin1");
    if (!/^[0-9a-fA-F]{6}$/.test(header))
      throw badHeader(Buffer.concat([this.#header, rest.subarray(0, PREVIEW_LENGTH)]));
    const length = Number.parseInt(header, 16);
    if (length <= this.#limit) return length;
    throw new SwankError("FRAME_TOO_LARGE", `A message of ${length} bytes was announced; the limit is ${this.#limit}.`);
  }

  #fill(payload: Buffer, bytes: Buffer): Buffer {
    const taken = bytes.copy(payload, this.#payloadLength);
    this.#payloadLength += taken;
    if (this.#payloadLength === payload.length) this.#finish(payload);
    return bytes.subarray(taken);
  }

  #finish(payload: Buffer): void {
    this.#headerLength = 0;
    this.#payload = undefined;
    this.#payloadLength = 0;
    // Lisp encodes what no text has, such as the strings of a stopped thread that are not filled yet: U+FFFD stands for it.
    this.#onPayload(payload.toString("utf8"));
  }
}

/** How the protocols begin that people most often meet on a wrong port. */
const OTHER_PROTOCOLS: readonly (readonly [start: string, name: string])[] = [
  ["HTTP/", "an HTTP server"],
  ["SSH-", "an SSH server"],
  ["220 ", "a mail or FTP server"],
  ["-ERR", "a Redis server"],
  ["\x15\x03", "a TLS server"],
  ["* ", "a Lisp listener that reads text"],
];

function badHeader(bytes: Buffer): SwankError {
  const text = bytes.toString("latin1");
  const protocol = OTHER_PROTOCOLS.find(([start]) => text.startsWith(start));
  const guess = protocol === undefined ? "" : ` It looks like ${protocol[1]}.`;
  return new SwankError("BAD_FRAME", `A message should begin with its length in six hexadecimal digits.${guess}`, {
    details: { received: preview(bytes) },
  });
}

/** The beginning of some bytes, with everything that does not print as `.`. */
function preview(bytes: Buffer): string {
  return bytes.toString("latin1", 0, PREVIEW_LENGTH).replace(/[^\x20-\x7e]/g, ".");
}
