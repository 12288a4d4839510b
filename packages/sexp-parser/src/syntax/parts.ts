import type {
  ArrayLiteral,
  BitVector,
  Character,
  Complex,
  DottedList,
  LispFloat,
  LispSymbol,
  Opaque,
  Pathname,
  Quasi,
  Ratio,
  Sexp,
  Structure,
  Vector,
} from "../types.js";

/** A datum that contains no other data. */
export type Atom =
  | string
  | number
  | bigint
  | LispSymbol
  | LispFloat
  | Ratio
  | Character
  | BitVector
  | Pathname
  | Opaque;

/** A datum that contains other data. */
export type Compound = readonly Sexp[] | DottedList | Vector | ArrayLiteral | Complex | Structure | Quasi;

/** Whether a datum is a compound; true for every array, including `[]`. */
export function isCompound(datum: Sexp): datum is Compound {
  if (typeof datum !== "object") return false;
  return !("kind" in datum) || COMPOUND_KINDS.has(datum.kind);
}

const COMPOUND_KINDS: ReadonlySet<string> = new Set([
  "dotted",
  "vector",
  "array",
  "complex",
  "structure",
  "backquote",
  "unquote",
  "splice",
  "nsplice",
]);

const NO_PARTS: readonly Sexp[] = [];

/**
 * The data directly inside a datum, in printed order; an empty array for an atom.
 *
 * The name of a structure and the tail of a dotted list count as parts.
 */
export function parts(datum: Sexp): readonly Sexp[] {
  if (typeof datum !== "object") return NO_PARTS;
  if (!("kind" in datum)) return datum;
  switch (datum.kind) {
    case "dotted":
      return [...datum.items, datum.tail];
    case "vector":
      return datum.items;
    case "array":
      return [datum.contents];
    case "complex":
      return [datum.real, datum.imaginary];
    case "structure":
      return [datum.name, ...datum.slots];
    case "backquote":
    case "unquote":
    case "splice":
    case "nsplice":
      return [datum.datum];
    default:
      return NO_PARTS;
  }
}
