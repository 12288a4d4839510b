import { keyword } from "../build.js";
import { isList } from "../syntax/kinds.js";
import type { Sexp } from "../types.js";
import { assembledFields } from "./assemble.js";
import type { DecodedFields, Decoder, Field } from "./decoder.js";
import { DecodeError, within } from "./error.js";
import type { Place } from "./positions.js";
import { decodePlaces, itemsOf, placeOf, restOf } from "./positions.js";

/** Decoders by field name. */
export type Fields = Readonly<Record<string, Field<unknown>>>;

function namedPlaces(fields: Fields, describe: (name: string) => string): readonly Place[] {
  return Object.entries(fields).map(([name, field]) => placeOf(`.${name}`, field, describe(name)));
}

/** An object with all fields of a result. Copying it and setting the fields is faster than adding them one by one. */
function templateOf(fields: Fields, constants?: object): Record<string, unknown> {
  const template: Record<string, unknown> = { ...constants };
  for (const name of Object.keys(fields)) template[name] = undefined;
  return template;
}

/** A copy of a template with values of fields. */
function named(template: object, names: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const result: Record<string, unknown> = { ...template };
  for (let index = 0; index < names.length; index++) result[names[index] ?? ""] = values[index];
  return result;
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
  const names = Object.keys(fields);
  const places = namedPlaces(fields, () => "an element that is missing");
  const template = templateOf(fields, constants);
  return (datum) => {
    const items = itemsOf(datum);
    return assembledFields<S, C>(named(template, names, decodePlaces(places, items, datum)));
  };
}

/**
 * A property list; the field `lispVersion` has the key `:lisp-version`.
 *
 * Unknown keys are ignored, and the first of equal keys counts, as in `getf`. A missing key is an error unless its field
 * is `optional`.
 */
export function plist<S extends Fields>(fields: S): Decoder<DecodedFields<S>> {
  const names = Object.keys(fields);
  const places = namedPlaces(fields, (name) => `the key :${kebab(name)}`);
  const indices = new Map<Sexp | undefined, number>();
  for (const [index, name] of names.entries()) indices.set(keyword(kebab(name)), index);
  const template = templateOf(fields);
  return (datum) => {
    const items = itemsOf(datum, "a property list");
    if (items.length % 2 !== 0) throw new DecodeError("a property list", datum);
    const values = valuesOf(items, indices);
    return assembledFields<S, object>(named(template, names, decodePlaces(places, values, datum)));
  };
}

/** The values of a property list at the indices of their keys. */
function valuesOf(
  items: readonly Sexp[],
  indices: ReadonlyMap<Sexp | undefined, number>,
): readonly (Sexp | undefined)[] {
  const values = new Array<Sexp | undefined>(indices.size);
  for (let at = 0; at < items.length; at += 2) {
    const index = indices.get(items[at]);
    if (index !== undefined && values[index] === undefined) values[index] = items[at + 1];
  }
  return values;
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
