import { type Decoder, decode, print, type Sexp } from "sexp-parser";
import type { MessageDecoders } from "./message-decoders.js";
import type { EdTarget, IndentationRule, NoticeMessage } from "./messages.js";

const { any, integer, nil, real, string } = decode;

const optionalInteger = decode.optional(decode.nullable(integer));

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

/** Decoders of the messages that only tell something, by name. */
export const noticeMessages: MessageDecoders<NoticeMessage> = {
  "new-package": decode.record({ name: string, prompt: string }, { type: "new-package" }),
  "new-features": decode.record({ features: decode.list(featureName) }, { type: "new-features" }),
  "indentation-update": decode.record({ rules: decode.list(indentationRule) }, { type: "indentation-update" }),
  "background-message": decode.record({ text: string }, { type: "background-message" }),
  ed: decode.record({ target: edTarget }, { type: "ed" }),
  "test-delay": decode.record({ seconds: real }, { type: "test-delay" }),
  "emacs-skipped-packet": decode.record({ packet: any }, { type: "emacs-skipped-packet" }),
};
