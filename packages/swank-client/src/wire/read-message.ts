import { read, type Sexp, SexpError } from "sexp-parser";
import { decodeMessage } from "./decode-message.js";
import type { SwankMessage } from "./messages.js";
import { notAMessage } from "./not-a-message.js";
import { requestIdAtEnd } from "./request-id-at-end.js";

/**
 * Reads one payload.
 *
 * A payload that begins as a message does and cannot be read gives an `unreadable` message, because Lisp may print objects in any way it
 * likes and the next frame is not affected.
 *
 * @throws SwankError `UNREADABLE_MESSAGE` when it is no message at all
 */
export function readMessage(payload: string): SwankMessage {
  const datum = readDatum(payload);
  if (datum instanceof SexpError) return unreadable(payload, datum);
  return decodeMessage(datum);
}

function readDatum(payload: string): Sexp | SexpError {
  try {
    return read(payload);
  } catch (error) {
    if (error instanceof SexpError) return error;
    throw error;
  }
}

function unreadable(text: string, error: SexpError): SwankMessage {
  if (!text.startsWith("(:")) throw notAMessage(text, error);
  return { type: "unreadable", text, problem: error.message, id: requestIdAtEnd(text)?.id };
}
