import { isList, isNil, NIL } from "../data.js";
import { type DecodeErrorCode, PrintError } from "../errors.js";
import { preview } from "../print.js";
import type { Sexp } from "../types.js";

/** Turns a datum into a typed value, or throws a `DecodeError` with the path and the datum found there. */
export type Decoder<T> = (datum: Sexp) => T;

/** A field that may be missing; only inside `record`, `tuple` and `plist`. */
export interface OptionalField<T> {
  readonly optional: Decoder<T>;
}

/** A field that has a value when it is missing. */
export interface DefaultField<T> {
  readonly decode: Decoder<T>;
  readonly missing: T;
}

/** A field of a property list with a key that its name does not tell. */
export interface KeyedField<F> {
  readonly key: string;
  readonly field: F;
}

/** A decoder of an element or field. */
export type Field<T> =
  | Decoder<T>
  | OptionalField<T>
  | DefaultField<T>
  | KeyedField<Decoder<T> | OptionalField<T> | DefaultField<T>>;

/** The result type of a decoder or field. */
export type Decoded<D> =
  D extends KeyedField<infer F>
    ? Decoded<F>
    : D extends Decoder<infer T> | DefaultField<infer T>
      ? T
      : D extends OptionalField<infer T>
        ? T | undefined
        : never;

/** A field that is left out of the result when it is missing. */
type LeftOut = OptionalField<unknown> | KeyedField<OptionalField<unknown>>;

/** The result type of decoders by field name; the comments of the fields stay those of the result. */
export type DecodedFields<S> = { readonly [K in keyof S as S[K] extends LeftOut ? never : K]: Decoded<S[K]> } & {
  readonly [K in keyof S as S[K] extends LeftOut ? K : never]?: Decoded<S[K]>;
};

/** A decoder of named fields. It has a name of its own so that declarations keep the fields with their comments. */
export type FieldsDecoder<S, C> = (datum: Sexp) => DecodedFields<S> & C;

/** A decoder of one of several shapes, likewise. */
export type TaggedDecoder<D, U> = (datum: Sexp) => Decoded<D[keyof D]> | U;

/** The result type of decoders of elements. */
export type DecodedItems<S extends readonly unknown[]> = { readonly [K in keyof S]: Decoded<S[K]> };

const MAX_FOUND = 120;
const MAX_PATH = 200;

/**
 * A datum that does not have the expected shape.
 *
 * The message reads `debug[2].restarts[0]: expected a string, found 42`.
 */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
  readonly code: DecodeErrorCode;
  /** The expected shape, as a phrase: `a string`. */
  readonly expected: string;
  /** The start of the text of the datum found. */
  readonly found: string;
  #path = "";

  constructor(expected: string, found: Sexp, code: DecodeErrorCode = "SHAPE") {
    super();
    this.code = code;
    this.expected = expected;
    this.found = describe(found);
    this.#describe();
  }

  /**
   * The path to the datum: list indices and field names from the outside in; empty for the whole datum.
   *
   * A tag and `rest` count as fields. `...` replaces the outer part of a long path.
   */
  get path(): string {
    return this.#path.replace(/^\.(?!\.)/, "");
  }

  /** Prepends a segment (`[2]` or `.field`) to the path. Each enclosing decoder calls it. */
  within(segment: string): this {
    if (this.#path.length < MAX_PATH) this.#path = segment + this.#path;
    else if (!this.#path.startsWith("...")) this.#path = `...${this.#path}`;
    this.#describe();
    return this;
  }

  #describe(): void {
    const where = this.path === "" ? "" : `${this.path}: `;
    this.message = `${where}expected ${this.expected}, found ${this.found}`;
  }
}

/** Prepends a segment to the path of a `DecodeError`; returns other errors unchanged. */
export function located(error: unknown, segment: string): unknown {
  return error instanceof DecodeError ? error.within(segment) : error;
}

/** Decodes a part of a datum; `segment` is its place, `[2]` or `.field`. */
export function within<T>(segment: string, decode: Decoder<T>, datum: Sexp): T {
  try {
    return decode(datum);
  } catch (error) {
    throw located(error, segment);
  }
}

function describe(datum: Sexp): string {
  try {
    return preview(datum, MAX_FOUND);
  } catch (error) {
    if (error instanceof PrintError) return "something that is not Lisp data";
    throw error;
  }
}

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
  /** The expected shape for an error when the element is missing; `undefined` when it may be. */
  readonly required: string | undefined;
  /** The result when the element is missing. */
  readonly missing: unknown;
}

/** The place of a field; `name` describes it in errors when it is missing. */
export function placeOf(segment: string, field: Field<unknown>, name: string): Place {
  if (typeof field === "function") return { segment, decode: field, required: name, missing: undefined };
  if ("key" in field) return placeOf(segment, field.field, name);
  if ("optional" in field) return { segment, decode: field.optional, required: undefined, missing: undefined };
  return { segment, decode: field.decode, required: undefined, missing: field.missing };
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
  return place?.missing;
}
