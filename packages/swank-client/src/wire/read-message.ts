import { type ReadErrorCode, read, type Sexp, SexpError } from "sexp-parser";
import { SwankError } from "../errors.js";
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
 * @throws SwankError `UNREADABLE_MESSAGE` when it is no message at all; `LIMIT_EXCEEDED` for a message nested too deep or with too many symbols
 * that is no reply
 */
export function readMessage(payload: string): SwankMessage {
  const datum = readDatum(payload);
  if (datum instanceof SexpError) return unreadable(payload, datum);
  return decodeMessage(datum);
}

/** Far more than a message of an image has: its printer fails at a few thousand levels. */
const LIMITS = { maxDepth: 10_000, maxNewSymbols: 100_000 };

const LIMIT_CODES: ReadonlySet<ReadErrorCode> = new Set(["NESTED_TOO_DEEP", "TOO_MANY_SYMBOLS"]);

function readDatum(payload: string): Sexp | SexpError {
  try {
    return read(payload, LIMITS);
  } catch (error) {
    if (error instanceof SexpError) return error;
    throw error;
  }
}

function unreadable(text: string, error: SexpError): SwankMessage {
  if (!text.startsWith("(:")) throw notAMessage(text, error);
  const id = requestIdAtEnd(text)?.id;
  // A reply concerns only the caller that asked for it; no caller asked for any other message.
  if (id === undefined && LIMIT_CODES.has(error.code)) throw limitExceeded(error);
  return { type: "unreadable", text, problem: error.message, id };
}

function limitExceeded(cause: SexpError): SwankError {
  return new SwankError("LIMIT_EXCEEDED", `A message was received that no image sends: ${cause.message}`, { cause });
}
