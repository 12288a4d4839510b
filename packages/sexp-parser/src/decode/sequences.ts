import { NIL } from "../syntax/symbols.js";
import type { Sexp } from "../types.js";
import { assembledItems } from "./assemble.js";
import type { DecodedItems, Decoder, Field } from "./decoder.js";
import { DecodeError, located, within } from "./error.js";
import { decodePlaces, itemsOf, placeOf, restOf } from "./positions.js";

/** A proper list of any length whose elements `item` decodes; `nil` is the empty list. */
export function list<T>(item: Decoder<T>): Decoder<readonly T[]> {
  return (datum) => {
    const items = itemsOf(datum);
    const results: T[] = [];
    try {
      for (let index = 0; index < items.length; index++) results.push(item(items[index] ?? NIL));
    } catch (error) {
      throw located(error, `[${results.length}]`);
    }
    return results;
  };
}

/** A proper list of exactly these elements; the last ones may be `optional`. */
export function tuple<S extends readonly Field<unknown>[]>(...fields: S): Decoder<DecodedItems<S>> {
  const decode = elements(fields);
  return (datum) => {
    const items = itemsOf(datum);
    if (items.length > fields.length) throw new DecodeError(atMost(fields.length), datum);
    return assembledItems<S>(decode(items, datum));
  };
}

/** A list that begins with these elements; `rest` decodes the list of the others, `nil` when there are none. */
export function tupleRest<S extends readonly Decoder<unknown>[], R>(
  first: readonly [...S],
  rest: Decoder<R>,
): Decoder<readonly [...DecodedItems<S>, R]> {
  const decode = elements(first);
  return (datum) => {
    const items = itemsOf(datum);
    return [...assembledItems<S>(decode(items, datum)), within(".rest", rest, restOf(items, first.length))];
  };
}

function elements(fields: readonly Field<unknown>[]): (items: readonly Sexp[], whole: Sexp) => unknown[] {
  const places = fields.map((field, index) => placeOf(`[${index}]`, field, "an element that is missing"));
  return (items, whole) => decodePlaces(places, items, whole);
}

function atMost(count: number): string {
  return count === 1 ? "at most one element" : `at most ${count} elements`;
}
