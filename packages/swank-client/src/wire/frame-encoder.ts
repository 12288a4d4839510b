import { Buffer } from "node:buffer";
import { SwankError } from "../errors.js";

/** Bytes of a frame's header: the payload's length in hexadecimal digits. */
export const HEADER_LENGTH = 6;

/** The most bytes that a header can announce. */
export const MAX_PAYLOAD_LENGTH = 0xffffff;

/**
 * Frames one message for the wire: six hexadecimal digits, then the text as UTF-8 (swank/rpc.lisp, `write-message`).
 *
 * Lone surrogates become U+FFFD, since a server closes the connection on invalid UTF-8.
 *
 * @throws SwankError `FRAME_TOO_LARGE`
 */
export function encodeFrame(payload: string): Uint8Array {
  const length = Buffer.byteLength(payload);
  if (length > MAX_PAYLOAD_LENGTH) {
    throw new SwankError("FRAME_TOO_LARGE", `The message takes ${length} bytes; the most is ${MAX_PAYLOAD_LENGTH}.`, {
      remedy: "Send less at a time, for example by having Lisp load a file.",
    });
  }
  const frame = Buffer.allocUnsafe(HEADER_LENGTH + length);
  frame.write(length.toString(16).padStart(HEADER_LENGTH, "0"), "latin1");
  frame.write(payload, HEADER_LENGTH, "utf8");
  return frame;
}
