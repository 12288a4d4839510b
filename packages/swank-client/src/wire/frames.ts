import { Buffer } from "node:buffer";
import { SwankError } from "../base/errors.js";
import { check, checkOptions } from "../base/options.js";

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
  frame.write(length.toString(16).padStart(HEADER_LENGTH, "0"), 0, "latin1");
  frame.write(payload, HEADER_LENGTH, "utf8");
  return frame;
}

/** Bytes of a frame, with its header, that an excerpt shows. */
const EXCERPT_END = HEADER_LENGTH + 300;

/** A copy of the beginning of a long frame, since a part would keep all of it in memory. One byte more shows that it was longer. */
function frameBeginning(frame: Uint8Array): Uint8Array {
  return frame.length > EXCERPT_END ? Uint8Array.prototype.slice.call(frame, 0, EXCERPT_END + 1) : frame;
}

/** The text of what `frameBeginning` returned. */
function frameExcerpt(frame: Uint8Array): string {
  const text = Buffer.from(frame).toString("utf8", HEADER_LENGTH, EXCERPT_END);
  // The end may be a part of a character.
  return frame.length > EXCERPT_END ? `${text.replace(/\ufffd+$/, "")}...` : text;
}

/** Number of sent frames that are remembered. */
const SENT_COUNT = 8;

/** Remembers how the last sent frames begin: a server closes the connection on a message that it cannot digest. */
export class SentFrames {
  /** Oldest first. */
  readonly #frames: Uint8Array[] = [];

  add(frame: Uint8Array): void {
    this.#frames.push(frameBeginning(frame));
    if (this.#frames.length > SENT_COUNT) this.#frames.shift();
  }

  /** The beginnings as text, oldest first. */
  excerpts(): readonly string[] {
    return this.#frames.map(frameExcerpt);
  }
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
    checkOptions("FrameDecoder", options, { limit: check.number("a number of bytes", (bytes) => bytes >= 0) });
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
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let start = 0; start < bytes.length; )
      start = this.#payload === undefined ? this.#readHeader(bytes, start) : this.#fill(this.#payload, bytes, start);
  }

  /** Returns the start of the bytes after the header, or after the frame if all of it has arrived. */
  #readHeader(bytes: Buffer, start: number): number {
    const from = start + bytes.copy(this.#header, this.#headerLength, start);
    this.#headerLength += from - start;
    if (this.#headerLength < HEADER_LENGTH) return from;
    const length = this.#parseHeader(bytes, from);
    const end = from + length;
    if (end <= bytes.length) {
      this.#finish(bytes, from, end);
      return end;
    }
    this.#payload = Buffer.allocUnsafe(length);
    return from;
  }

  #parseHeader(bytes: Buffer, from: number): number {
    let length = 0;
    for (const code of this.#header) {
      const digit = hexDigit(code);
      if (digit < 0) throw badHeader(Buffer.concat([this.#header, bytes.subarray(from, from + PREVIEW_LENGTH)]));
      length = length * 16 + digit;
    }
    if (length <= this.#limit) return length;
    throw new SwankError("FRAME_TOO_LARGE", `A message of ${length} bytes was announced; the limit is ${this.#limit}.`);
  }

  #fill(payload: Buffer, bytes: Buffer, start: number): number {
    const taken = bytes.copy(payload, this.#payloadLength, start);
    this.#payloadLength += taken;
    if (this.#payloadLength === payload.length) this.#finish(payload, 0, payload.length);
    return start + taken;
  }

  #finish(bytes: Buffer, start: number, end: number): void {
    this.#headerLength = 0;
    this.#payload = undefined;
    this.#payloadLength = 0;
    // Lisp may send bytes that are not UTF-8, such as unfilled strings of a stopped thread. They become U+FFFD.
    this.#onPayload(bytes.toString("utf8", start, end));
  }
}

/** The value of an ASCII hexadecimal digit; -1 for any other byte. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
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
