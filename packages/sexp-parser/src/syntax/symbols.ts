import { detached } from "../text/chars.js";
import type { LispSymbol } from "../types.js";

// References are weak, so that a peer that keeps sending new names (gensyms) cannot fill the memory.
const interned = new Map<string, WeakRef<LispSymbol>>();
/** The table is swept when it reaches this many entries. */
const SWEEP_SIZE = 65_536;
const table = { sweepAt: SWEEP_SIZE, created: 0 };

/** The number of symbols created so far, including collected ones. */
export function createdSymbols(): number {
  return table.created;
}

function sweep(): void {
  for (const [key, reference] of interned) if (reference.deref() === undefined) interned.delete(key);
  table.sweepAt = Math.max(SWEEP_SIZE, 2 * interned.size);
}

/**
 * The unique symbol with exactly this name and package; neither is upcased.
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
  // The length keeps pairs apart when a package name contains a colon or a space.
  return `${packageName.length}${internal ? "::" : ":"}${packageName} ${name}`;
}

/** `nil`, which is the empty list, false and a symbol at once. */
export const NIL: LispSymbol = intern("NIL");
/** `t`. */
export const T: LispSymbol = intern("T");
/** The head of the list that `'x` reads as. */
export const QUOTE: LispSymbol = intern("QUOTE", "COMMON-LISP");
/** The head of the list that `#'x` reads as. */
export const FUNCTION: LispSymbol = intern("FUNCTION", "COMMON-LISP");
