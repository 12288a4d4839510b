import { isNil } from "../syntax/kinds.js";
import type { Sexp } from "../types.js";
import type { Decoder, OptionalField } from "./decoder.js";
import { DecodeError, within } from "./error.js";

/** What `decoder` gives, changed by `change`. */
export function map<T, U>(decoder: Decoder<T>, change: (value: T) => U): Decoder<U> {
  return (datum) => change(decoder(datum));
}

/** `nil` as `undefined`, everything else as `decoder` has it. */
export function nullable<T>(decoder: Decoder<T>): Decoder<T | undefined> {
  return (datum) => (isNil(datum) ? undefined : decoder(datum));
}

/** A field that may be missing, then `undefined`; inside `record` and `tuple` only at the end. */
export function optional<T>(decoder: Decoder<T>): OptionalField<T> {
  return { optional: decoder };
}

/** What the first of the decoders that fits gives. Each one before it costs an error: put the most likely first. */
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

/** Names the datum, as the beginning of the path in errors: `debug[2]` instead of `[2]`. */
export function named<T>(name: string, decoder: Decoder<T>): Decoder<T> {
  return (datum) => within(name, decoder, datum);
}

const DEFAULT_MAX_DEPTH = 500;

/**
 * A decoder of data nested in itself; `build` gets the decoder that it is defining.
 *
 * The returned decoder throws `TOO_DEEP` when it is inside itself more than `maxDepth` times (500 by default).
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
