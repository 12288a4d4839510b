import { type Decoder, decode } from "sexp-parser";
import {
  DEFINITION_KINDS,
  type Definition,
  type Definitions,
  LEFT_REASONS,
  type ResetReport,
} from "../definitions/definition.js";
import { keywordOf } from "./keyword-of.js";

const { boolean, list, map, string, tuple } = decode;

const kind = keywordOf(DEFINITION_KINDS);

const definition: Decoder<Definition> = map(
  tuple(kind, string, keywordOf(["current", "changed"]), boolean),
  ([what, name, state, redefined]) => ({ kind: what, name, redefined, changed: state === "changed" }),
);

/** `(((KIND NAME STATE REDEFINED) ...) (LOADED ...))` (lisp/definitions.lisp). */
export const definitions: Decoder<Definitions> = map(tuple(list(definition), list(string)), ([defined, loaded]) => ({
  definitions: defined,
  loaded,
}));

const undefinedOne = map(tuple(kind, string), ([what, name]) => ({ kind: what, name }));
const leftOne = map(tuple(kind, string, keywordOf(LEFT_REASONS)), ([what, name, reason]) => ({
  kind: what,
  name,
  reason,
}));

/** `(((KIND NAME) ...) ((KIND NAME REASON) ...) (LOADED ...))` (lisp/reset.lisp). */
export const undoing: Decoder<Omit<ResetReport, "aborted" | "stillRunning">> = map(
  tuple(list(undefinedOne), list(leftOne), list(string)),
  ([gone, left, loaded]) => ({ undefined: gone, left, loaded }),
);
