import { decode } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { keywordOf } from "../lisp/decoders.js";

const { list, map, string, tuple } = decode;

const REMEDIES = {
  name: "Write a name as code does: my-app:process, (setf name) or (method name (class)).",
  undefined: "Define the function first, or write its package, as in my-app:process.",
  macro: "Name a function that its expansion calls.",
  "used-by-lisp": "Name a function of the program that calls it.",
  package: "Name a package of the program, or single functions.",
  code: "Correct the condition: it must compile, as (> (first args) 3) does. args is the argument list.",
  thread: "List the threads.",
} as const;

const KINDS = [
  "name",
  "undefined",
  "macro",
  "used-by-lisp",
  "package",
  "code",
  "thread",
] as const satisfies (keyof typeof REMEDIES)[];

/** Decodes the refusal of a function or package whose calls cannot be recorded or counted: `(NAME REASON KIND (SIMILAR ...))`. */
export const unwatchable = map(
  tuple(string, string, keywordOf(KINDS), list(string)),
  ([name, reason, kind, similar]) => {
    const hint = similar.length === 0 ? "" : ` Similar: ${similar.join(", ")}.`;
    return new SwankError("WATCH_REFUSED", `${name}: ${reason}${hint}`, { remedy: REMEDIES[kind] });
  },
);
