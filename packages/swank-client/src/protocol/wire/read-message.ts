import {
  DecodeError,
  decode,
  isDotted,
  isList,
  isSymbol,
  keyword,
  preview,
  type ReadErrorCode,
  read,
  type Sexp,
  SexpError,
} from "sexp-parser";
import { SwankError } from "../../base/errors.js";
import { messageDecoders } from "./message-decoders.js";
import type { ReplyRefusedMessage, ReturnMessage, SwankMessage } from "./messages.js";
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

/**
 * Far more than a message of an image has: its printer fails at a few thousand levels. A number of that length takes some 10 ms to read; one
 * that fills a frame would take seconds, in which this process could do nothing else.
 */
const LIMITS = { maxDepth: 10_000, maxNewSymbols: 100_000, maxNumberLength: 100_000 };

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
  return new SwankError("LIMIT_EXCEEDED", `A received message exceeds the limits: ${cause.message}`, { cause });
}

const decodeKnown = decode.tagged(messageDecoders, unknownMessage);

/**
 * Gives a message its type. Names that are not known and shapes that do not fit become messages of their own, so that nothing is lost.
 *
 * @throws SwankError `UNREADABLE_MESSAGE` when the datum is no message at all
 */
export function decodeMessage(datum: Sexp): SwankMessage {
  try {
    return plainReply(datum) ?? decodeKnown(datum);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return { type: "malformed", name: messageName(datum), problem: error.message, datum, id: repliedId(datum) };
  }
}

const OK = keyword("ok");
const ABORT = keyword("abort");
const UNPRINTABLE = keyword("unprintable");
const RETURN = keyword("return");
const REFUSED = keyword("refused");

/**
 * `(:return (:ok RESULT) ID)`, the most frequent message, and `(:return (:abort "CONDITION") ID)`, read without the slower general decoders,
 * or `(:return (:refused REASON) ID)` in their place (lisp/connection/messages.lisp); `undefined` for anything else.
 */
function plainReply(datum: Sexp): ReturnMessage | ReplyRefusedMessage | undefined {
  if (!isList(datum) || datum[0] !== RETURN) return undefined;
  const [, reply, id] = datum;
  if (typeof id !== "number" || reply === undefined || !isList(reply)) return undefined;
  const [status, value] = reply;
  if (status === OK && value !== undefined) return { type: "return", id, reply: { status: "ok", value } };
  if (status === ABORT && typeof value === "string")
    return { type: "return", id, reply: { status: "abort", condition: value } };
  if (status !== REFUSED) return undefined;
  return { type: "reply-refused", id, reason: value === UNPRINTABLE ? "unprintable" : "too-large" };
}

function unknownMessage(datum: Sexp): SwankMessage {
  return { type: "unknown", name: messageName(datum), datum };
}

/** Every message is a list that begins with a keyword. */
function messageName(datum: Sexp): string {
  const head = isList(datum) ? datum[0] : isDotted(datum) ? datum.items[0] : undefined;
  if (head === undefined || !isSymbol(head) || head.package !== "KEYWORD") throw notAMessage(preview(datum, 80));
  return head.name.toLowerCase();
}

/** Where replies have their ids, whatever else is wrong with them. */
const idOfReply = decode.tagged(
  {
    return: decode.record({ reply: decode.any, id: decode.integer }),
    "invalid-rpc": decode.record({ id: decode.integer }),
  },
  () => undefined,
);

function repliedId(datum: Sexp): number | undefined {
  try {
    return idOfReply(datum)?.id;
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

/** Characters of it that the error shows. */
const PREVIEW_LENGTH = 80;

/** The error for a payload that is not a list beginning with a keyword. */
function notAMessage(text: string, cause?: unknown): SwankError {
  return new SwankError("UNREADABLE_MESSAGE", "The received data are not a Swank message.", {
    cause,
    details: { received: text.slice(0, PREVIEW_LENGTH) },
  });
}
