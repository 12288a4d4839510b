import { isList, isNil } from "../syntax/kinds.js";
import { NIL } from "../syntax/symbols.js";
import type { Sexp } from "../types.js";
import type { Decoder, Field } from "./decoder.js";
import { DecodeError, located } from "./error.js";

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

/**
 * Decodes the elements at the places of `whole`; `undefined` for missing optional ones.
 *
 * One handler adds the path to an error of any place, and the loop counts, because code that V8 has not compiled yet makes an object for each
 * step of a loop over elements.
 */
export function decodePlaces(places: readonly Place[], items: readonly (Sexp | undefined)[], whole: Sexp): unknown[] {
  const results: unknown[] = [];
  try {
    for (let index = 0; index < places.length; index++) results.push(decodePlace(places[index], items[index], whole));
  } catch (error) {
    throw located(error, places[results.length]?.segment ?? "");
  }
  return results;
}

function decodePlace(place: Place | undefined, item: Sexp | undefined, whole: Sexp): unknown {
  if (item !== undefined) return place?.decode(item);
  if (place?.required !== undefined) throw new DecodeError(place.required, whole);
  return undefined;
}
