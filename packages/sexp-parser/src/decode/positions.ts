import { isList, isNil } from "../syntax/kinds.js";
import { NIL } from "../syntax/symbols.js";
import type { Sexp } from "../types.js";
import type { Decoder, Field } from "./decoder.js";
import { DecodeError, within } from "./error.js";

const NO_ITEMS: readonly Sexp[] = [];

/** The elements of a proper list, none for `nil`. */
export function itemsOf(datum: Sexp, expected = "a list"): readonly Sexp[] {
  if (isList(datum)) return datum;
  if (isNil(datum)) return NO_ITEMS;
  throw new DecodeError(expected, datum);
}

/** The list of the elements from `index` on, as a datum. */
export function restOf(items: readonly Sexp[], index: number): Sexp {
  return index >= items.length ? NIL : items.slice(index);
}

/** One element of a list of known shape. */
export interface Place {
  /** How the path of an error names it: `[2]` or `.name`. */
  readonly segment: string;
  readonly decode: Decoder<unknown>;
  /** What an error says is expected when it is not there; `undefined` when it need not be. */
  readonly required: string | undefined;
}

/** Where a field is, and what to call it when it is missing. */
export function placeOf(segment: string, field: Field<unknown>, name: string): Place {
  if (typeof field === "function") return { segment, decode: field, required: name };
  return { segment, decode: field.optional, required: undefined };
}

/** Decodes what is in a place of `whole`; `undefined` when nothing is there and need not be. */
export function decodePlace(place: Place, item: Sexp | undefined, whole: Sexp): unknown {
  return item === undefined ? missing(place, whole) : within(place.segment, place.decode, item);
}

function missing({ required, segment }: Place, whole: Sexp): undefined {
  if (required !== undefined) throw new DecodeError(required, whole).within(segment);
}
