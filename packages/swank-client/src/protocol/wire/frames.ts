import { Buffer } from "node:buffer";
import { checkOptions } from "../../base/check-arguments.js";
import { SwankError } from "../../base/errors.js";

/** Bytes of a frame's header: the payload's length in hexadecimal digits. */
export const HEADER_LENGTH = 6;

/** The most bytes that a header can announce. */
export const MAX_PAYLOAD_LENGTH = 0xffffff;

/**
 * Frames one message for the wire: six hexadecimal digits, then the text as UTF-8 (swank/rpc.lisp, `write-message`).
 *
 * Lone surrogates become U+FFFD, because a server closes the connection on invalid UTF-8.
 *
 * @throws SwankError `FRAME_TOO_LARGE`
 */
export function encodeFrame(payload: string): Uint8Array {
  const length = Buffer.byteLength(payload);
  if (length > MAX_PAYLOAD_LENGTH) {
    throw new SwankError("FRAME_TOO_LARGE", `The message has ${length} bytes; the limit is ${MAX_PAYLOAD_LENGTH}.`, {
      remedy: "Send less at a time, for example by having Lisp load a file.",
    });
  }
  const frame = Buffer.allocUnsafe(HEADER_LENGTH + length);
  frame.write(length.toString(16).padStart(HEADER_LENGTH, "0"), "latin1");
  frame.write(payload, HEADER_LENGTH, "utf8");
  return frame;
}

/** Number of unexpected bytes that an error shows. */
const PREVIEW_LENGTH = 80;

/** Options of {@link FrameDecoder}. */
export interface FrameDecoderOptions {
  /** The largest accepted payload, in bytes. Default 16777215, the protocol's maximum. */
  readonly limit?: number | undefined;
}

/** Splits a stream of bytes, in chunks of any size, into the payloads of its frames. */
export class FrameDecoder {
  readonly #onPayload: (payload: string) => void;
  readonly #limit: number;
  readonly #header = Buffer.alloc(HEADER_LENGTH);
  /** Bytes of the header received so far. */
  #headerLength = 0;
  /** The payload being collected; `undefined` while in a header. */
  #payload: Buffer | undefined;
  /** Bytes of the payload received so far. */
  #payloadLength = 0;

  /** @param onPayload - Called with each payload as soon as its last byte has arrived. */
  constructor(onPayload: (payload: string) => void, options: FrameDecoderOptions = {}) {
    checkOptions("FrameDecoder", options, { limit: true });
    this.#onPayload = onPayload;
    this.#limit = options.limit ?? MAX_PAYLOAD_LENGTH;
  }

  /** True in the middle of a frame. */
  get isPartial(): boolean {
    return this.#headerLength > 0;
  }

  /**
   * Takes the next bytes of the stream.
   *
   * The stream cannot be continued after an error.
   *
   * @throws SwankError `BAD_FRAME` (the header is not a number) or `FRAME_TOO_LARGE`
   */
  push(chunk: Uint8Array): void {
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    while (rest.length > 0)
      rest = this.#payload === undefined ? this.#readHeader(rest) : this.#fill(this.#payload, rest);
  }

  /** Returns the rest of the bytes. */
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
    // Lisp may send bytes that are not UTF-8, such as unfilled strings of a stopped thread. They become U+FFFD.
    this.#onPayload(payload.toString("utf8"));
  }
}

/** The first bytes of protocols that are common on a wrong port. */
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

/** The first bytes as text, with `.` for unprintable ones. */
function preview(bytes: Buffer): string {
  return bytes.toString("latin1", 0, PREVIEW_LENGTH).replace(/[^\x20-\x7e]/g, ".");
}
