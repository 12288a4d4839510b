import { isList, isNil } from "../syntax/kinds.js";
import { NIL } from "../syntax/symbols.js";
import type { Sexp } from "../types.js";
import type { Decoder, Field } from "./decoder.js";
import { DecodeError, within } from "./error.js";

const NO_ITEMS: readonly Sexp[] = [];

/** The elements of a proper list; none for `nil`. */
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
  /** The segment for the path of an error: `[2]` or `.name`. */
  readonly segment: string;
  readonly decode: Decoder<unknown>;
  /** The expected shape for an error when the element is missing; `undefined` when it is optional. */
  readonly required: string | undefined;
}

/** The place of a field; `name` describes it in errors when it is missing. */
export function placeOf(segment: string, field: Field<unknown>, name: string): Place {
  if (typeof field === "function") return { segment, decode: field, required: name };
  return { segment, decode: field.optional, required: undefined };
}

/** Decodes the element at a place of `whole`; `undefined` for a missing optional element. */
export function decodePlace(place: Place, item: Sexp | undefined, whole: Sexp): unknown {
  return item === undefined ? missing(place, whole) : within(place.segment, place.decode, item);
}

function missing({ required, segment }: Place, whole: Sexp): undefined {
  if (required !== undefined) throw new DecodeError(required, whole).within(segment);
}
