import { DecodeError, decode, isDotted, isList, isSymbol, preview, type Sexp } from "sexp-parser";
import { debugMessages } from "./decode-debug.js";
import { inputMessages } from "./decode-input.js";
import { noticeMessages } from "./decode-notice.js";
import { outputMessages } from "./decode-output.js";
import { replyMessages, replyRefused } from "./decode-reply.js";
import type { SwankMessage } from "./messages.js";
import { notAMessage } from "./not-a-message.js";

const decodeKnown = decode.tagged(
  { ...replyMessages, ...debugMessages, ...outputMessages, ...inputMessages, ...noticeMessages },
  unknownMessage,
);

/**
 * Gives a message its type. Names that are not known and shapes that do not fit become messages of their own, so that nothing is lost.
 *
 * @throws SwankError `UNREADABLE_MESSAGE` when the datum is no message at all
 */
export function decodeMessage(datum: Sexp): SwankMessage {
  try {
    return replyRefused(datum) ?? decodeKnown(datum);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return { type: "malformed", name: messageName(datum), problem: error.message, datum, id: repliedId(datum) };
  }
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

const { any, integer } = decode;

/** Where replies have their ids, whatever else is wrong with them. */
const idOfReply = decode.tagged(
  { return: decode.record({ reply: any, id: integer }), "invalid-rpc": decode.record({ id: integer }) },
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
