import { printAtom } from "../print/atom.js";
import { isNil, isSymbol } from "../syntax/kinds.js";
import type { LispSymbol, Sexp } from "../types.js";
import type { Decoder } from "./decoder.js";
import { DecodeError } from "./error.js";

/** Any datum, unchanged. */
export function any(datum: Sexp): Sexp {
  return datum;
}

/** A Lisp string. */
export function string(datum: Sexp): string {
  if (typeof datum === "string") return datum;
  throw new DecodeError("a string", datum);
}

/** An integer that a JavaScript number represents exactly. */
export function integer(datum: Sexp): number {
  if (typeof datum === "number") return datum;
  throw new DecodeError("an integer below 2^53", datum);
}

/** An integer of any size. */
export function bigInteger(datum: Sexp): bigint {
  if (typeof datum === "number" || typeof datum === "bigint") return BigInt(datum);
  throw new DecodeError("an integer", datum);
}

/** A real number as the nearest double: integer, ratio or float. */
export function real(datum: Sexp): number {
  if (typeof datum === "number" || typeof datum === "bigint") return Number(datum);
  if (typeof datum === "object" && "kind" in datum) {
    if (datum.kind === "float") return datum.value;
    if (datum.kind === "ratio") return Number(datum.numerator) / Number(datum.denominator);
  }
  throw new DecodeError("a real number", datum);
}

/** A generalized boolean: `nil` is false, any other datum is true. */
export function boolean(datum: Sexp): boolean {
  return !isNil(datum);
}

/** `nil`, decoded as `undefined`. */
export function nil(datum: Sexp): undefined {
  if (!isNil(datum)) throw new DecodeError("nil", datum);
}

/** A symbol; compare it with `===`. */
export function symbol(datum: Sexp): LispSymbol {
  if (isSymbol(datum)) return datum;
  throw new DecodeError("a symbol", datum);
}

/** The name of a symbol, without its package: `FOO` for `foo` and `bar:foo`. */
export function symbolName(datum: Sexp): string {
  return symbol(datum).name;
}

/** The name of a keyword: `FOO` for `:foo`. */
export function keywordName(datum: Sexp): string {
  if (isSymbol(datum) && datum.package === "KEYWORD") return datum.name;
  throw new DecodeError("a keyword", datum);
}

/** Exactly this symbol. */
export function literal(expected: LispSymbol): Decoder<LispSymbol> {
  return (datum) => {
    if (datum === expected) return expected;
    throw new DecodeError(printAtom(expected), datum);
  };
}
