import { keyword } from "../build.js";
import { isList, isNil, isSymbol, NIL } from "../data.js";
import { printAtom } from "../print.js";
import type { LispSymbol, Sexp } from "../types.js";
import { assembledFields, assembledItems, assembledResult } from "./assemble.js";
import {
  type Decoded,
  type DecodedItems,
  DecodeError,
  type Decoder,
  type DefaultField,
  decodePlaces,
  type Field,
  type FieldsDecoder,
  itemsOf,
  type KeyedField,
  located,
  type OptionalField,
  type Place,
  placeOf,
  restOf,
  type TaggedDecoder,
  within,
} from "./core.js";

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

/** Applies `change` to the result of `decoder`. */
export function map<T, U>(decoder: Decoder<T>, change: (value: T) => U): Decoder<U> {
  return (datum) => change(decoder(datum));
}

/** Decodes `nil` as `undefined`, and any other datum with `decoder`. */
export function nullable<T>(decoder: Decoder<T>): Decoder<T | undefined> {
  return (datum) => (isNil(datum) ? undefined : decoder(datum));
}

/**
 * A field that may be missing; in `record` and `tuple` only at the end. In a `record` or `plist`, a field that is missing, or whose value is
 * `undefined`, is left out of the result.
 */
export function optional<T>(decoder: Decoder<T>): OptionalField<T> {
  return { optional: decoder };
}

/** A field that may be missing, which gives `missing`; in `record` and `tuple` only at the end. */
export function withDefault<T>(decoder: Decoder<T>, missing: T): DefaultField<T>;
export function withDefault<T, const M>(decoder: Decoder<T>, missing: M): DefaultField<T | M>;
export function withDefault<T>(decoder: Decoder<T>, missing: T): DefaultField<T> {
  return { decode: decoder, missing };
}

/** A field of a `plist` with this key instead of that of its name. */
export function from<F>(key: string, field: F): KeyedField<F> {
  return { key, field };
}

/** The result of the first decoder that accepts the datum. Put the most likely one first: each failure creates an error. */
export function oneOf<T extends readonly unknown[]>(...decoders: Alternatives<T>): Decoder<T[number]> {
  return (datum) => {
    const wanted: string[] = [];
    for (const decoder of decoders) {
      try {
        return decoder(datum);
      } catch (error) {
        wanted.push(expectation(error));
      }
    }
    throw new DecodeError(wanted.join(" or "), datum);
  };
}

type Alternatives<T extends readonly unknown[]> = { readonly [I in keyof T]: Decoder<T[I]> };

function expectation(error: unknown): string {
  if (!(error instanceof DecodeError) || error.code !== "SHAPE") throw error;
  return error.path === "" ? error.expected : `${error.expected} at ${error.path}`;
}

/** Names the datum at the start of the path in errors: `debug[2]` instead of `[2]`. */
export function named<T>(name: string, decoder: Decoder<T>): Decoder<T> {
  return (datum) => within(name, decoder, datum);
}

const DEFAULT_MAX_DEPTH = 500;

/**
 * A decoder for data that contain data of the same shape; `build` receives the decoder that it defines.
 *
 * The decoder throws `TOO_DEEP` when it is nested in itself more than `maxDepth` times (default 500).
 */
export function recursive<T>(
  build: (self: Decoder<T>) => Decoder<T>,
  maxDepth: number = DEFAULT_MAX_DEPTH,
): Decoder<T> {
  let depth = 0;
  const self = (datum: Sexp): T => {
    if (depth >= maxDepth) throw new DecodeError(`data nested at most ${maxDepth} deep`, datum, "TOO_DEEP");
    depth++;
    try {
      return decode(datum);
    } finally {
      depth--;
    }
  };
  const decode = build(self);
  return self;
}

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

/** Decoders by field name. */
type Fields = Readonly<Record<string, Field<unknown>>>;

function namedPlaces(fields: Fields, describe: (name: string) => string): readonly Place[] {
  return Object.entries(fields).map(([name, field]) => placeOf(`.${name}`, field, describe(keyOf(name, field))));
}

/** An object with the fields of a result that are never left out. Copying it and setting them is faster than adding them one by one. */
function templateOf(fields: Fields, constants?: object): Record<string, unknown> {
  const template: Record<string, unknown> = { ...constants };
  for (const [name, field] of Object.entries(fields)) if (!isLeftOut(field)) template[name] = undefined;
  return template;
}

/** Whether a field is left out of the result when it is missing. */
function isLeftOut(field: Field<unknown>): boolean {
  return typeof field !== "function" && ("key" in field ? isLeftOut(field.field) : "optional" in field);
}

/** A copy of a template with values of fields. */
function filled(template: object, names: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const result: Record<string, unknown> = { ...template };
  for (let index = 0; index < names.length; index++) {
    const value = values[index];
    if (value !== undefined) result[names[index] ?? ""] = value;
  }
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
): FieldsDecoder<S, C> {
  const names = Object.keys(fields);
  const places = namedPlaces(fields, () => "an element that is missing");
  const template = templateOf(fields, constants);
  return (datum) => {
    const items = itemsOf(datum);
    return assembledFields<S, C>(filled(template, names, decodePlaces(places, items, datum)));
  };
}

/**
 * A property list; the field `lispVersion` has the key `:lisp-version`, unless `from` names another one.
 *
 * Unknown keys are ignored, and the first of equal keys counts, as in `getf`. A missing key is an error unless its field
 * is `optional` or `withDefault`. `constants` are added to the result, as by `record`.
 */
export function plist<S extends Fields, const C extends object = object>(
  fields: S,
  constants?: C,
): FieldsDecoder<S, C> {
  const names = Object.keys(fields);
  const places = namedPlaces(fields, (key) => `the key :${key}`);
  const indices = new Map<Sexp | undefined, number>();
  for (const [index, [name, field]] of Object.entries(fields).entries())
    indices.set(keyword(keyOf(name, field)), index);
  const template = templateOf(fields, constants);
  return (datum) => {
    const items = itemsOf(datum, "a property list");
    if (items.length % 2 !== 0) throw new DecodeError("a property list", datum);
    const values = valuesOf(items, indices);
    return assembledFields<S, C>(filled(template, names, decodePlaces(places, values, datum)));
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

/** The key of a field in a property list. */
function keyOf(name: string, field: Field<unknown>): string {
  if (typeof field !== "function" && "key" in field) return field.key;
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/**
 * A list that begins with a keyword: the decoder with this name receives the list of the other elements.
 *
 * Names match in any case, as the reader reads keywords. `otherwise` receives the whole datum when it is no list with a
 * known tag; without `otherwise` this is an error.
 */
export function tagged<D extends Readonly<Record<string, Decoder<unknown>>>, U = never>(
  table: D,
  otherwise?: Decoder<U>,
): TaggedDecoder<D, U> {
  const variants = new Map<Sexp | undefined, { readonly segment: string; readonly decode: Decoder<unknown> }>();
  for (const [name, decode] of Object.entries(table)) variants.set(keyword(name), { segment: `.${name}`, decode });
  const expected = `a list that begins with ${Object.keys(table)
    .map((name) => `:${name}`)
    .join(" or ")}`;
  return (datum) => {
    const items = isList(datum) ? datum : [];
    const variant = variants.get(items[0]);
    if (variant !== undefined) {
      return assembledResult<Decoded<D[keyof D]>>(within(variant.segment, variant.decode, restOf(items, 1)));
    }
    if (otherwise === undefined) throw new DecodeError(expected, datum);
    return otherwise(datum);
  };
}
