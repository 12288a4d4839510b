import { type Decoder, decode } from "sexp-parser";
import type { MessageDecoders } from "./message-decoders.js";
import type { Reply, ReplyMessage } from "./messages.js";
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

/** Decoders of the messages that settle requests, by name. */
export const replyMessages: MessageDecoders<ReplyMessage> = {
  return: decode.record({ reply, id: integer }, { type: "return" }),
  "invalid-rpc": decode.record({ id: integer, message: string }, { type: "invalid-rpc" }),
  "reader-error": decode.map(
    decode.record({ packet: string, message: string }, { type: "reader-error" }),
    (message) => ({ ...message, carried: undefined, id: undefined, ...requestIdAtEnd(message.packet) }),
  ),
};
