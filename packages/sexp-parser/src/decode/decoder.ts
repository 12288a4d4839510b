import type { Sexp } from "../types.js";

/** Turns a datum into a typed value, or throws a `DecodeError` with the path and the datum found there. */
export type Decoder<T> = (datum: Sexp) => T;

/** A field that may be missing; only inside `record`, `tuple` and `plist`. */
export interface OptionalField<T> {
  readonly optional: Decoder<T>;
}

/** A decoder of an element or field. */
export type Field<T> = Decoder<T> | OptionalField<T>;

/** The result type of a decoder or field. */
export type Decoded<D> = D extends Decoder<infer T> ? T : D extends OptionalField<infer T> ? T | undefined : never;

/** The result type of decoders by field name. */
export type DecodedFields<S> = { readonly [K in keyof S]: Decoded<S[K]> };

/** The result type of decoders of elements. */
export type DecodedItems<S extends readonly unknown[]> = { readonly [K in keyof S]: Decoded<S[K]> };
