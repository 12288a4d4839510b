import type { DottedList, LispSymbol, Sexp } from "../types.js";
import { NIL } from "./symbols.js";

/** Whether the datum is an array, which stands for a proper list. False for `NIL`; see `isNil`. */
export function isList(datum: Sexp): datum is readonly Sexp[] {
  return Array.isArray(datum);
}

/** Whether the datum is the empty list, in either form. */
export function isNil(datum: Sexp): boolean {
  return datum === NIL || (isList(datum) && datum.length === 0);
}

/** Whether the datum is a symbol; true for `NIL`. */
export function isSymbol(datum: Sexp): datum is LispSymbol {
  return typeof datum === "object" && "kind" in datum && datum.kind === "symbol";
}

/** Whether the datum is a dotted list. */
export function isDotted(datum: Sexp): datum is DottedList {
  return typeof datum === "object" && "kind" in datum && datum.kind === "dotted";
}

/** A list of `items` that ends in `tail`: a proper list when `tail` is a proper list, and `tail` itself when there are no items. */
export function dotted(items: readonly Sexp[], tail: Sexp): Sexp {
  if (isNil(tail)) return items.length === 0 ? NIL : items;
  const [first, ...others] = items;
  if (first === undefined) return tail;
  if (isList(tail)) return [...items, ...tail];
  if (!isDotted(tail)) return { kind: "dotted", items: [first, ...others], tail };
  return { kind: "dotted", items: [first, ...others, ...tail.items], tail: tail.tail };
}
