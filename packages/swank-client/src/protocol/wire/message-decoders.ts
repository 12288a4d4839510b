import { type Decoder, decode, NIL, print, type Sexp } from "sexp-parser";
import type {
  DebuggerMessage,
  EdTarget,
  IndentationRule,
  InputMessage,
  NoticeMessage,
  OutputMessage,
  Reply,
  ReplyMessage,
  WireCondition,
  WireFrame,
  WireRestart,
} from "./messages.js";
import { requestIdAtEnd } from "./request-id-at-end.js";

const { any, boolean, integer, keywordName, nil, real, string } = decode;

/** Decoders by message name on the wire, which is also the message's `type`. */
type MessageDecoders<Message extends { readonly type: string }> = {
  readonly [Type in Message["type"]]: Decoder<Extract<Message, { readonly type: Type }>>;
};

/** The result of `decoder`, or `fallback` if it fails: for details without which the message is still useful. */
function lenient<Value>(decoder: Decoder<Value>, fallback: Value): Decoder<Value> {
  return decode.oneOf<[Value, Value]>(decoder, () => fallback);
}

/** Lisp sends the printed condition; without one it is the string `NIL`, or nothing at all from old releases. */
const abortCondition = decode.optional(decode.oneOf(string, nil));

/** `(:ok RESULT)` or `(:abort "COND")` (swank.lisp, `eval-for-emacs`). */
const reply: Decoder<Reply> = decode.tagged({
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
const replyMessages: MessageDecoders<ReplyMessage> = {
  return: decode.record({ reply, id: integer }, { type: "return" }),
  "invalid-rpc": decode.record({ id: integer, message: string }, { type: "invalid-rpc" }),
  "reader-error": decode.map(
    decode.record({ packet: string, message: string }, { type: "reader-error" }),
    (message) => ({ ...message, carried: undefined, id: undefined, ...requestIdAtEnd(message.packet) }),
  ),
};

const NO_DATA: readonly Sexp[] = [];

/** `(MESSAGE "   [Condition of type TYPE]" EXTRAS)` (swank.lisp, `debugger-condition-for-emacs`). */
const condition: Decoder<WireCondition> = decode.map(
  decode.record({ message: string, type: string, extras: decode.optional(lenient(decode.list(any), NO_DATA)) }),
  ({ message, type, extras = NO_DATA }) => ({ message, type: conditionType(type), extras }),
);

const TYPE_START = "   [Condition of type ";

function conditionType(text: string): string {
  // A regular expression is compiled when it is first used, and run slowly at first.
  if (text.startsWith(TYPE_START) && text.endsWith("]")) return text.slice(TYPE_START.length, -1);
  return /^\s*\[Condition of type (.*)\]\s*$/s.exec(text)?.[1] ?? text.trim();
}

/** `(NAME DESCRIPTION)` (swank.lisp, `format-restarts-for-emacs`). */
const restart: Decoder<WireRestart> = decode.map(
  decode.record({ name: string, description: string }),
  ({ name, description }) => {
    // The restart that leads to the top level has an asterisk in front; a user's name may have one at both ends.
    const topLevel = name.length > 1 && name.startsWith("*") && !name.endsWith("*");
    const bare = topLevel ? name.slice(1) : name;
    return { name: bare === "NIL" ? "" : bare, description, topLevel };
  },
);

const frameProperties = lenient(decode.nullable(decode.plist({ restartable: decode.optional(boolean) })), undefined);

/** `(INDEX "CALL" [(:restartable t)])` (swank.lisp, `backtrace`). */
export const frame: Decoder<WireFrame> = decode.map(
  decode.record({ index: integer, call: string, properties: decode.optional(frameProperties) }),
  ({ index, call, properties }) => ({ index, call, restartable: properties?.restartable ?? false }),
);

/** Decoders of the messages about stopped threads, by name. */
const debugMessages: MessageDecoders<DebuggerMessage> = {
  debug: decode.map(
    decode.record(
      {
        thread: integer,
        level: integer,
        condition,
        restarts: decode.list(restart),
        frames: decode.list(frame),
        continuations: decode.optional(decode.list(integer)),
      },
      { type: "debug" },
    ),
    ({ type, thread, level, condition: stoppedBy, restarts, frames, continuations = [] }) => ({
      type,
      thread,
      level,
      condition: stoppedBy,
      restarts,
      frames,
      continuations,
    }),
  ),
  "debug-activate": decode.map(
    decode.record({ thread: integer, level: integer, select: decode.optional(boolean) }, { type: "debug-activate" }),
    ({ type, thread, level, select = false }) => ({ type, thread, level, select }),
  ),
  "debug-return": decode.map(
    decode.record({ thread: integer, level: integer, stepping: decode.optional(boolean) }, { type: "debug-return" }),
    ({ type, thread, level, stepping = false }) => ({ type, thread, level, stepping }),
  ),
  "debug-condition": decode.record({ thread: integer, message: string }, { type: "debug-condition" }),
};

const optionalInteger = decode.optional(decode.nullable(integer));

/** The waiting thread, and the tag of the answer that it waits for. */
const waiting = { thread: integer, tag: integer } as const;

const rest = decode.list(any);

/** Decoders of the messages that ask this side for something, by name. */
const inputMessages: MessageDecoders<InputMessage> = {
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

/** A thread's number at the end of a message, which is there only when that thread waits. */
const waitingThread = decode.optional(decode.nullable(integer));

const target = decode.optional(any);

/** Decoders of the messages that carry output, by name. */
const outputMessages: MessageDecoders<OutputMessage> = {
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

/** A feature is a keyword, as a rule; users may push anything. */
export const featureName: Decoder<string> = decode.oneOf(decode.symbolName, string, (datum: Sexp) => print(datum));

/** `("name" N-or-list ("PKG" ...))` (swank.lisp, `update-indentation/delta-for-emacs`). */
const indentationRule: Decoder<IndentationRule> = decode.map(
  decode.record({ name: string, indentation: any, packages: decode.optional(decode.list(string)) }),
  ({ packages = [], ...rule }) => ({ ...rule, packages }),
);

/** NIL, a file or a function (swank.lisp, `ed-in-emacs`). */
const edTarget: Decoder<EdTarget> = decode.oneOf(
  decode.map(nil, () => ({ kind: "nothing" }) as const),
  decode.map(
    decode.plist({ filename: string, line: optionalInteger, column: optionalInteger, position: optionalInteger }),
    ({ filename, ...place }) => ({ kind: "file", path: filename, ...place }) as const,
  ),
  decode.map(
    decode.plist({ functionName: string }),
    ({ functionName }) => ({ kind: "function", name: functionName }) as const,
  ),
);

/** Decoders of the messages that need no answer, by name. */
const noticeMessages: MessageDecoders<NoticeMessage> = {
  "new-package": decode.record({ name: string, prompt: string }, { type: "new-package" }),
  "new-features": decode.record({ features: decode.list(featureName) }, { type: "new-features" }),
  "indentation-update": decode.record({ rules: decode.list(indentationRule) }, { type: "indentation-update" }),
  "background-message": decode.record({ text: string }, { type: "background-message" }),
  ed: decode.record({ target: edTarget }, { type: "ed" }),
  "test-delay": decode.record({ seconds: real }, { type: "test-delay" }),
  "emacs-skipped-packet": decode.record({ packet: any }, { type: "emacs-skipped-packet" }),
};

/** A decoder for every message that a Swank server sends, by name. */
export const messageDecoders = {
  ...replyMessages,
  ...debugMessages,
  ...outputMessages,
  ...inputMessages,
  ...noticeMessages,
};
