import { isList, isNil, isSymbol } from "../syntax/kinds.js";
import { FUNCTION } from "../syntax/symbols.js";
import type { Sexp } from "../types.js";

// Each of these functions returns `undefined` when the datum after the prefix does not fit the syntax.

/** The `#` syntaxes that convert the datum after them, by their char in upper case. `argument` is the number before the char. */
export const LITERALS: ReadonlyMap<string, (datum: Sexp, argument: number | undefined) => Sexp | undefined> = new Map([
  ["'", (datum: Sexp): Sexp => [FUNCTION, datum]],
  ["(", toVector],
  ["A", toArray],
  ["C", toComplex],
  ["P", toPathname],
  ["S", toStructure],
]);

/** The limit for `n` in `#n(a)`, so that a short text cannot use up the memory. */
const MAX_FILLED_LENGTH = 1_000_000;

/** `#(items)`, or `#n(items)` where the last item is repeated. */
function toVector(datum: Sexp, length: number | undefined): Sexp | undefined {
  const items = itemsOf(datum);
  if (items === undefined) return undefined;
  const last = items.at(-1);
  const missing = missingItems(items.length, length);
  if (missing === 0) return { kind: "vector", items };
  if (missing === undefined || last === undefined) return undefined;
  return { kind: "vector", items: [...items, ...Array.from({ length: missing }, () => last)] };
}

/** `#*bits`, or `#n*bits` where the last bit is repeated. */
export function toBits(bits: string, length: number | undefined): Sexp | undefined {
  const missing = missingItems(bits.length, length);
  if (missing === undefined || !/^[01]*$/.test(bits) || (missing > 0 && bits === "")) return undefined;
  return { kind: "bit-vector", bits: bits + bits.slice(-1).repeat(missing) };
}

function missingItems(present: number, length: number | undefined): number | undefined {
  if (length === undefined || length === present) return 0;
  return length < present || length > MAX_FILLED_LENGTH ? undefined : length - present;
}

/** `#nA contents`. */
function toArray(contents: Sexp, rank: number | undefined): Sexp | undefined {
  return rank === undefined ? undefined : { kind: "array", rank, contents };
}

/** `#C(real imaginary)`. */
function toComplex(datum: Sexp): Sexp | undefined {
  const [real, imaginary, ...more] = itemsOf(datum) ?? [];
  if (real === undefined || imaginary === undefined || more.length > 0) return undefined;
  return { kind: "complex", real, imaginary };
}

/** `#P"namestring"`. */
function toPathname(datum: Sexp): Sexp | undefined {
  return typeof datum === "string" ? { kind: "pathname", namestring: datum } : undefined;
}

/** `#S(name :slot value ...)`. */
function toStructure(datum: Sexp): Sexp | undefined {
  const [name, ...slots] = itemsOf(datum) ?? [];
  return name !== undefined && isSymbol(name) ? { kind: "structure", name, slots } : undefined;
}

function itemsOf(datum: Sexp): readonly Sexp[] | undefined {
  if (isList(datum)) return datum;
  return isNil(datum) ? [] : undefined;
}
