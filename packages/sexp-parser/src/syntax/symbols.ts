import { detached } from "../text/chars.js";
import type { LispSymbol } from "../types.js";

// Weak, so that a peer that keeps sending new names (gensyms) cannot fill the memory.
const interned = new Map<string, WeakRef<LispSymbol>>();
/** Entries from which on the table is searched for symbols that are gone. */
const SWEEP_SIZE = 65_536;
const table = { sweepAt: SWEEP_SIZE, created: 0 };

/** How many symbols have been made so far, those that are gone included. */
export function createdSymbols(): number {
  return table.created;
}

function sweep(): void {
  for (const [key, reference] of interned) if (reference.deref() === undefined) interned.delete(key);
  table.sweepAt = Math.max(SWEEP_SIZE, 2 * interned.size);
}

/**
 * The one symbol with exactly this name and package; nothing is upcased.
 *
 * `packageName` is `undefined` for an unqualified symbol, `"KEYWORD"` for a keyword, `""` for an uninterned one.
 */
export function intern(name: string, packageName?: string, internal = false): LispSymbol {
  const isInternal = internal && packageName !== undefined && packageName !== "" && packageName !== "KEYWORD";
  const known = interned.get(internKey(name, packageName, isInternal))?.deref();
  return known ?? remember(detached(name), packageName && detached(packageName), isInternal);
}

function remember(name: string, packageName: string | undefined, internal: boolean): LispSymbol {
  const symbol = Object.freeze({ kind: "symbol", name, package: packageName, internal });
  const key = internKey(name, packageName, internal);
  if (interned.size >= table.sweepAt) sweep();
  interned.set(key, new WeakRef(symbol));
  table.created += 1;
  return symbol;
}

function internKey(name: string, packageName: string | undefined, internal: boolean): string {
  if (packageName === undefined) return ` ${name}`;
  // The length keeps a colon or a space in the package name from imitating another pair.
  return `${packageName.length}${internal ? "::" : ":"}${packageName} ${name}`;
}

/** `nil`: the empty list, false, and the symbol, which Lisp does not tell apart. */
export const NIL: LispSymbol = intern("NIL");
/** `t`. */
export const T: LispSymbol = intern("T");
/** The head of the list that `'x` reads as. */
export const QUOTE: LispSymbol = intern("QUOTE", "COMMON-LISP");
/** The head of the list that `#'x` reads as. */
export const FUNCTION: LispSymbol = intern("FUNCTION", "COMMON-LISP");
