import { isNil } from "../syntax/kinds.js";
import type { Sexp } from "../types.js";
import type { Decoder, OptionalField } from "./decoder.js";
import { DecodeError, within } from "./error.js";

/** Applies `change` to the result of `decoder`. */
export function map<T, U>(decoder: Decoder<T>, change: (value: T) => U): Decoder<U> {
  return (datum) => change(decoder(datum));
}

/** Decodes `nil` as `undefined`, and any other datum with `decoder`. */
export function nullable<T>(decoder: Decoder<T>): Decoder<T | undefined> {
  return (datum) => (isNil(datum) ? undefined : decoder(datum));
}

/** A field that may be missing, which gives `undefined`; in `record` and `tuple` only at the end. */
export function optional<T>(decoder: Decoder<T>): OptionalField<T> {
  return { optional: decoder };
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
