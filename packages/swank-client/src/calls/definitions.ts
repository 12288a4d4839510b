import { type Decoder, decode } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";
import { lispFunction } from "../lisp/descriptor.js";
import { type Definition, type Definitions, definitionKind, loaded, SESSION_TIME } from "./definition.js";

const { boolean, list, map, string, tuple } = decode;

const definition: Decoder<Definition> = map(
  tuple(definitionKind, string, keywordOf(["current", "changed"]), boolean),
  ([kind, name, state, redefined]) => ({ kind, name, redefined, changed: state === "changed" }),
);

/** `(((KIND NAME STATE REDEFINED) ...) ((KIND NAME TIMES) ...))` */
const answer: Decoder<Definitions> = map(tuple(list(definition), list(loaded)), ([definitions, all]) => ({
  definitions,
  loaded: all,
}));

/** Lists what the client's evaluations have defined and loaded (lisp/definitions/definitions.lisp). */
export const definitions = lispFunction({
  name: "definitions",
  module: "definitions",
  decode: answer,
  timeout: SESSION_TIME,
  label: () => "listing definitions",
});
