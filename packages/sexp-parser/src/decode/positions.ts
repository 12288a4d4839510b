import { isList, isNil } from "../syntax/kinds.js";
import { NIL } from "../syntax/symbols.js";
import type { Sexp } from "../types.js";
import type { Decoder, Field } from "./decoder.js";
import { DecodeError, located } from "./error.js";

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
  readonly isOptional: boolean;
}

/** A field as an element of a list. */
export function placeOf(segment: string, field: Field<unknown>): Place {
  const isOptional = typeof field === "object";
  return { segment, decode: isOptional ? field.optional : field, isOptional };
}

/** Decodes the element of a place; `undefined` when a list that is too short may be. */
export function decodePlace(place: Place, item: Sexp | undefined, whole: Sexp): unknown {
  if (item === undefined) return missing(place, whole);
  try {
    return place.decode(item);
  } catch (error) {
    throw located(error, place.segment);
  }
}

function missing(place: Place, whole: Sexp): undefined {
  if (!place.isOptional) throw new DecodeError("an element that is missing", whole).within(place.segment);
}
