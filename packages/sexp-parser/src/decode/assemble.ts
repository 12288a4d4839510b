import type { DecodedFields, DecodedItems } from "./core.js";

// TypeScript cannot check a mapped type that a loop fills or reads entry by entry. These are the only casts of the package.

/** Asserts that `items` are the results of the decoders `S`, complete and in order. */
export function assembledItems<S extends readonly unknown[]>(items: readonly unknown[]): DecodedItems<S> {
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: see above
  return items as DecodedItems<S>;
}

/** Asserts that `fields` are the results of all decoders `S` by name, together with the constants `C`. */
export function assembledFields<S, C>(fields: Readonly<Record<string, unknown>>): DecodedFields<S> & C {
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: see above
  return fields as DecodedFields<S> & C;
}

/** Asserts that `value` is the result of one of several decoders. */
export function assembledResult<R>(value: unknown): R {
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: see above
  return value as R;
}
