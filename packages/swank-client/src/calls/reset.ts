import { type Decoder, decode } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";
import { lispFunction } from "../lisp/descriptor.js";
import { definitionKind, LEFT_REASONS, loaded, type ResetReport, SESSION_TIME } from "./definition.js";

const { list, map, string, tuple } = decode;

const removedDefinition = map(tuple(definitionKind, string), ([kind, name]) => ({ kind, name }));
const keptDefinition = map(tuple(definitionKind, string, keywordOf(LEFT_REASONS)), ([kind, name, reason]) => ({
  kind,
  name,
  reason,
}));

/** `(((KIND NAME) ...) ((KIND NAME REASON) ...) ((KIND NAME TIMES) ...))` */
const answer: Decoder<Omit<ResetReport, "aborted" | "stillRunning">> = map(
  tuple(list(removedDefinition), list(keptDefinition), list(loaded)),
  ([gone, left, all]) => ({ undefined: gone, left, loaded: all }),
);

/** Undefines names that only the client's evaluations have defined, and starts a new session (lisp/definitions/reset.lisp). */
export const reset = lispFunction({
  name: "reset",
  module: "definitions",
  decode: answer,
  timeout: SESSION_TIME,
  label: () => "resetting the session",
});
