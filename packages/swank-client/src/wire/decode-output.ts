import { decode, NIL } from "sexp-parser";
import type { MessageDecoders } from "./message-decoders.js";
import type { OutputMessage } from "./messages.js";

const { any, integer, keywordName, string } = decode;

/** A thread's number at the end of a message, which is there only when that thread waits. */
const waitingThread = decode.optional(decode.nullable(integer));

const target = decode.optional(any);

/** Decoders of the messages that carry output, by name. */
export const outputMessages: MessageDecoders<OutputMessage> = {
  "write-string": decode.map(
    decode.record({ text: string, target, thread: waitingThread }, { type: "write-string" }),
    ({ target = NIL, ...message }) => ({ ...message, target }),
  ),
  "presentation-start": decode.map(
    decode.record({ id: any, target }, { type: "presentation-start" }),
    ({ target = NIL, ...message }) => ({ ...message, target }),
  ),
  "presentation-end": decode.map(
    decode.record({ id: any, target }, { type: "presentation-end" }),
    ({ target = NIL, ...message }) => ({ ...message, target }),
  ),
  "new-repl-output": decode.record({}, { type: "new-repl-output" }),
  "channel-send": decode.map(
    decode.record(
      { channel: integer, message: decode.tupleRest([keywordName], decode.list(any)) },
      { type: "channel-send" },
    ),
    ({ type, channel, message: [method, args] }) => ({ type, channel, method: method.toLowerCase(), args }),
  ),
  "write-image": decode.record({ image: any, text: string }, { type: "write-image" }),
  "popup-buffer": decode.map(
    decode.record({ name: string, text: string, mode: decode.optional(any) }, { type: "popup-buffer" }),
    ({ mode = NIL, ...message }) => ({ ...message, mode }),
  ),
  "open-dedicated-output-stream": decode.map(
    decode.record({ port: integer, coding: decode.optional(any) }, { type: "open-dedicated-output-stream" }),
    ({ coding = NIL, ...message }) => ({ ...message, coding }),
  ),
};
