import type { Atom, Compound } from "./syntax/parts.js";
import { isCompound, parts } from "./syntax/parts.js";
import type { Sexp } from "./types.js";

/** The functions with which `fold` computes its result. */
export interface Folder<T> {
  /** The result for a datum without parts. */
  atom(datum: Atom): T;
  /** The result for a datum with parts, given theirs in the order of `parts(datum)`. */
  compound(datum: Compound, parts: readonly T[]): T;
}

interface Visit<T> {
  readonly parent: Visit<T> | undefined;
  readonly datum: Compound;
  readonly parts: readonly Sexp[];
  readonly results: T[];
}

/** Computes a value from a datum of any depth, innermost data first, without recursion. */
export function fold<T>(datum: Sexp, folder: Folder<T>): T {
  if (!isCompound(datum)) return folder.atom(datum);
  for (let current = visitOf<T>(undefined, datum); ; ) {
    const part = current.parts[current.results.length];
    if (part === undefined) {
      const result = folder.compound(current.datum, current.results);
      if (current.parent === undefined) return result;
      current = current.parent;
      current.results.push(result);
    } else if (isCompound(part)) current = visitOf(current, part);
    else current.results.push(folder.atom(part));
  }
}

function visitOf<T>(parent: Visit<T> | undefined, datum: Compound): Visit<T> {
  return { parent, datum, parts: parts(datum), results: [] };
}
