import { decode } from "sexp-parser";
import type { MessageDecoders } from "./message-decoders.js";
import type { InputMessage } from "./messages.js";

const { any, integer, string } = decode;

const optionalInteger = decode.optional(decode.nullable(integer));

/** Which thread waits, and what it calls the answer that it waits for. */
const waiting = { thread: integer, tag: integer } as const;

const rest = decode.list(any);

/** Decoders of the messages that ask this side for something, by name. */
export const inputMessages: MessageDecoders<InputMessage> = {
  "read-string": decode.record(waiting, { type: "read-string" }),
  "read-aborted": decode.record(waiting, { type: "read-aborted" }),
  "y-or-n-p": decode.record({ ...waiting, question: string }, { type: "y-or-n-p" }),
  "read-from-minibuffer": decode.record(
    { ...waiting, prompt: string, initial: decode.optional(decode.nullable(string)) },
    { type: "read-from-minibuffer" },
  ),
  eval: decode.record({ ...waiting, form: string }, { type: "eval" }),
  "eval-no-wait": decode.record({ form: string }, { type: "eval-no-wait" }),
  "ed-rpc": decode.map(
    decode.tupleRest([integer, integer, string], rest),
    ([thread, tag, functionName, args]) => ({ type: "ed-rpc", thread, tag, functionName, args }) as const,
  ),
  "ed-rpc-no-wait": decode.map(
    decode.tupleRest([string], rest),
    ([functionName, args]) => ({ type: "ed-rpc-no-wait", functionName, args }) as const,
  ),
  ping: decode.record(waiting, { type: "ping" }),
  inspect: decode.map(
    decode.record({ content: any, thread: optionalInteger, tag: optionalInteger }, { type: "inspect" }),
    ({ type, content, thread, tag }) => ({
      type,
      content,
      // Without `:wait` Swank sends NIL for both.
      waiting: thread === undefined || tag === undefined ? undefined : { thread, tag },
    }),
  ),
};
