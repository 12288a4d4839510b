import { type Decoder, decode, keyword, NIL } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";
import { lispFunction } from "../lisp/descriptor.js";
import { CODE_TIME } from "./code-time.js";
import type { Expansion, ExpansionMode, Expansions, PlainOperator } from "./expansion.js";
import { NAMED_KINDS } from "./found-names.js";
import { nameNotFound } from "./name-not-found.js";

const { boolean, list, map, nullable, string, tagged, tuple } = decode;

const operator: Decoder<PlainOperator> = map(
  tuple(string, nullable(keywordOf(NAMED_KINDS)), list(string)),
  ([name, kind, similar]) => ({ name, kind, similar }),
);

const expansion: Decoder<Expansion> = map(tuple(string, boolean, nullable(operator)), ([text, isExpanded, plain]) => ({
  text,
  isExpanded,
  operator: plain,
}));

/** The expansions of forms, which are read in `packageName`, by default the session's package (lisp/code/macroexpand.lisp). */
export const macroexpandCode = lispFunction({
  name: "macroexpand-code",
  module: "code",
  encode: (code: string, mode: ExpansionMode, packageName: string | undefined) => [
    code,
    keyword(mode),
    packageName ?? NIL,
  ],
  decode: tagged({
    expanded: map(tuple(list(expansion)), ([forms]): Expansions => ({ status: "expanded", forms })),
    unreadable: map(tuple(string), ([message]): Expansions => ({ status: "unreadable", message })),
    failed: map(tuple(string, string), ([type, message]): Expansions => ({ status: "failed", type, message })),
    "package-not-found": nameNotFound["package-not-found"],
  }),
  timeout: CODE_TIME,
  label: () => "expanding macros",
});
