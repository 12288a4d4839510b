import type { Sexp } from "../types.js";

/** Turns a datum into a typed value, or throws a `DecodeError` that says where and what was there. */
export type Decoder<T> = (datum: Sexp) => T;

/** A field that may be missing; only inside `record`, `tuple` and `plist`. */
export interface OptionalField<T> {
  readonly optional: Decoder<T>;
}

/** A decoder of an element or field. */
export type Field<T> = Decoder<T> | OptionalField<T>;

/** The type that a decoder gives. */
export type Decoded<D> = D extends Decoder<infer T> ? T : D extends OptionalField<infer T> ? T | undefined : never;

/** The object that decoders of named fields give. */
export type DecodedFields<S> = { readonly [K in keyof S]: Decoded<S[K]> };

/** The tuple that decoders of elements give. */
export type DecodedItems<S extends readonly unknown[]> = { readonly [K in keyof S]: Decoded<S[K]> };
