import type { DecodedFields, DecodedItems } from "./decoder.js";

// The boundary where TypeScript cannot follow: a mapped type that a loop fills piece by piece. Nothing else casts.

/** Vouches that `items` are the results of the decoders `S`, in order and complete. */
export function assembledItems<S extends readonly unknown[]>(items: readonly unknown[]): DecodedItems<S> {
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: see above
  return items as DecodedItems<S>;
}

/** Vouches that `fields` are the results of the decoders `S` by name, none left out, together with the constants `C`. */
export function assembledFields<S, C>(fields: Readonly<Record<string, unknown>>): DecodedFields<S> & C {
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: see above
  return fields as DecodedFields<S> & C;
}
