import { keyword } from "../build.js";
import { isList } from "../syntax/kinds.js";
import type { LispSymbol, Sexp } from "../types.js";
import { assembledFields } from "./assemble.js";
import type { DecodedFields, Decoder, Field } from "./decoder.js";
import { DecodeError, within } from "./error.js";
import type { Place } from "./positions.js";
import { decodePlace, itemsOf, placeOf, restOf } from "./positions.js";

/** Decoders by field name. */
export type Fields = Readonly<Record<string, Field<unknown>>>;

interface NamedPlace extends Place {
  readonly name: string;
}

function namedPlaces(fields: Fields, describe: (name: string) => string): readonly NamedPlace[] {
  return Object.entries(fields).map(([name, field]) => ({ name, ...placeOf(`.${name}`, field, describe(name)) }));
}

/** An object with all fields of a result. Copying it and setting the fields is faster than adding them one by one. */
function templateOf(fields: Fields, constants?: object): Record<string, unknown> {
  const template: Record<string, unknown> = { ...constants };
  for (const name of Object.keys(fields)) template[name] = undefined;
  return template;
}

/**
 * A list whose elements are named by their order in `fields`; the last ones may be `optional`.
 *
 * More elements are ignored, since newer peers append some. `constants` are added to the result, for discriminated
 * unions: `record({ thread: integer }, { type: "debug" })`.
 */
export function record<S extends Fields, const C extends object = object>(
  fields: S,
  constants?: C,
): Decoder<DecodedFields<S> & C> {
  const places = namedPlaces(fields, () => "an element that is missing");
  const template = templateOf(fields, constants);
  return (datum) => {
    const items = itemsOf(datum);
    const result = { ...template };
    let index = 0;
    for (const place of places) result[place.name] = decodePlace(place, items[index++], datum);
    return assembledFields<S, C>(result);
  };
}

/**
 * A property list; the field `lispVersion` has the key `:lisp-version`.
 *
 * Unknown keys are ignored, and the first of equal keys counts, as in `getf`. A missing key is an error unless its field
 * is `optional`.
 */
export function plist<S extends Fields>(fields: S): Decoder<DecodedFields<S>> {
  const places = namedPlaces(fields, (name) => `the key :${kebab(name)}`).map((place) => {
    return { ...place, key: keyword(kebab(place.name)) };
  });
  const template = templateOf(fields);
  return (datum) => {
    const items = itemsOf(datum, "a property list");
    if (items.length % 2 !== 0) throw new DecodeError("a property list", datum);
    const result = { ...template };
    for (const place of places) result[place.name] = decodePlace(place, property(items, place.key), datum);
    return assembledFields<S, object>(result);
  };
}

function property(items: readonly Sexp[], key: LispSymbol): Sexp | undefined {
  for (let index = 0; index < items.length; index += 2) if (items[index] === key) return items[index + 1];
  return undefined;
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** A decoder for each tag. */
type Table<T> = { readonly [K in keyof T]: Decoder<T[K]> };

interface Variant<T> {
  readonly segment: string;
  readonly decode: Decoder<T>;
}

/**
 * A list that begins with a keyword: the decoder with this name receives the list of the other elements.
 *
 * Names match in any case, as the reader reads keywords. `otherwise` receives the whole datum when it is no list with a
 * known tag; without `otherwise` this is an error.
 */
export function tagged<T extends object, U = never>(table: Table<T>, otherwise?: Decoder<U>): Decoder<T[keyof T] | U> {
  const variants = new Map<Sexp | undefined, Variant<T[keyof T]>>();
  for (const name in table) variants.set(keyword(name), { segment: `.${name}`, decode: table[name] });
  const expected = `a list that begins with ${Object.keys(table)
    .map((name) => `:${name}`)
    .join(" or ")}`;
  return (datum) => {
    const items = isList(datum) ? datum : [];
    const variant = variants.get(items[0]);
    if (variant !== undefined) return within(variant.segment, variant.decode, restOf(items, 1));
    if (otherwise === undefined) throw new DecodeError(expected, datum);
    return otherwise(datum);
  };
}
