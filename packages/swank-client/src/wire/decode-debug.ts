import { type Decoder, decode, type Sexp } from "sexp-parser";
import { lenient } from "./lenient.js";
import type { MessageDecoders } from "./message-decoders.js";
import type { DebuggerMessage, WireCondition, WireFrame, WireRestart } from "./messages.js";

const { any, boolean, integer, string } = decode;

const NO_DATA: readonly Sexp[] = [];

/** `(MESSAGE "   [Condition of type TYPE]" EXTRAS)` (swank.lisp, `debugger-condition-for-emacs`). */
const condition: Decoder<WireCondition> = decode.map(
  decode.record({ message: string, type: string, extras: decode.optional(lenient(decode.list(any), NO_DATA)) }),
  ({ message, type, extras = NO_DATA }) => ({ message, type: conditionType(type), extras }),
);

function conditionType(text: string): string {
  return /^\s*\[Condition of type (.*)\]\s*$/s.exec(text)?.[1] ?? text.trim();
}

/** `(NAME DESCRIPTION)` (swank.lisp, `format-restarts-for-emacs`). */
const restart: Decoder<WireRestart> = decode.map(
  decode.record({ name: string, description: string }),
  ({ name, description }) => {
    // The restart that leads to the top level has an asterisk in front; a name of the user's own has one at both ends.
    const topLevel = /^\*.*[^*]$/s.test(name);
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
export const debugMessages: MessageDecoders<DebuggerMessage> = {
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
    ({ continuations = [], ...message }) => ({ ...message, continuations }),
  ),
  "debug-activate": decode.map(
    decode.record({ thread: integer, level: integer, select: decode.optional(boolean) }, { type: "debug-activate" }),
    ({ select = false, ...message }) => ({ ...message, select }),
  ),
  "debug-return": decode.map(
    decode.record({ thread: integer, level: integer, stepping: decode.optional(boolean) }, { type: "debug-return" }),
    ({ stepping = false, ...message }) => ({ ...message, stepping }),
  ),
  "debug-condition": decode.record({ thread: integer, message: string }, { type: "debug-condition" }),
};
