import { type Decoder, decode, isList, keyword, type Sexp } from "sexp-parser";
import type { MessageDecoders } from "./message-decoders.js";
import type { Reply, ReplyMessage, ReplyRefusedMessage } from "./messages.js";
import { requestIdAtEnd } from "./request-id-at-end.js";

const { any, integer, nil, string } = decode;

/** Lisp sends the printed condition; without one it is the string `NIL`, or nothing at all from old releases. */
const abortCondition = decode.optional(decode.oneOf(string, nil));

/** `(:ok RESULT)` or `(:abort "COND")` (swank.lisp, `eval-for-emacs`). */
export const reply: Decoder<Reply> = decode.tagged({
  ok: decode.record({ value: any }, { status: "ok" }),
  abort: decode.map(
    decode.record({ condition: abortCondition }, { status: "abort" }),
    ({ status, condition = "NIL" }) => ({
      status,
      condition,
    }),
  ),
});

const UNPRINTABLE = keyword("unprintable");
const RETURN = keyword("return");
const REFUSED = keyword("refused");

/** `(:return (:refused REASON) ID)` in place of `(:return (:ok RESULT) ID)` (lisp/guard.lisp); `undefined` for anything else. */
export function replyRefused(datum: Sexp): ReplyRefusedMessage | undefined {
  const [name, reply, id] = isList(datum) ? datum : [];
  if (name !== RETURN || typeof id !== "number") return undefined;
  if (reply === undefined || !isList(reply) || reply[0] !== REFUSED) return undefined;
  return { type: "reply-refused", id, reason: reply[1] === UNPRINTABLE ? "unprintable" : "too-large" };
}

/** Decoders of the messages that settle requests, by name. */
export const replyMessages: MessageDecoders<ReplyMessage> = {
  return: decode.record({ reply, id: integer }, { type: "return" }),
  "invalid-rpc": decode.record({ id: integer, message: string }, { type: "invalid-rpc" }),
  "reader-error": decode.map(
    decode.record({ packet: string, message: string }, { type: "reader-error" }),
    (message) => ({ ...message, carried: undefined, id: undefined, ...requestIdAtEnd(message.packet) }),
  ),
};
