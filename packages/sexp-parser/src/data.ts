import { detached } from "./lexer.js";
import type {
  ArrayLiteral,
  BitVector,
  Character,
  Complex,
  DottedList,
  LispFloat,
  LispSymbol,
  Opaque,
  Pathname,
  Quasi,
  Ratio,
  Sexp,
  Structure,
  Vector,
} from "./types.js";

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

/** A datum that contains no other data. */
export type Atom =
  | string
  | number
  | bigint
  | LispSymbol
  | LispFloat
  | Ratio
  | Character
  | BitVector
  | Pathname
  | Opaque;

/** A datum that contains other data. */
export type Compound = readonly Sexp[] | DottedList | Vector | ArrayLiteral | Complex | Structure | Quasi;

/** Whether a datum is a compound; true for every array, including `[]`. */
function isCompound(datum: Sexp): datum is Compound {
  if (typeof datum !== "object") return false;
  return !("kind" in datum) || COMPOUND_KINDS.has(datum.kind);
}

const COMPOUND_KINDS: ReadonlySet<string> = new Set([
  "dotted",
  "vector",
  "array",
  "complex",
  "structure",
  "backquote",
  "unquote",
  "splice",
  "nsplice",
]);

const NO_PARTS: readonly Sexp[] = [];

/**
 * The data directly inside a datum, in printed order; an empty array for an atom.
 *
 * The name of a structure and the tail of a dotted list count as parts.
 */
export function parts(datum: Sexp): readonly Sexp[] {
  if (typeof datum !== "object") return NO_PARTS;
  if (!("kind" in datum)) return datum;
  switch (datum.kind) {
    case "dotted":
      return [...datum.items, datum.tail];
    case "vector":
      return datum.items;
    case "array":
      return [datum.contents];
    case "complex":
      return [datum.real, datum.imaginary];
    case "structure":
      return [datum.name, ...datum.slots];
    case "backquote":
    case "unquote":
    case "splice":
    case "nsplice":
      return [datum.datum];
    default:
      return NO_PARTS;
  }
}

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

/**
 * Whether two data have the same structure and the same text in every atom, at any depth.
 *
 * `NIL` equals `[]`, and a number equals the bigint of the same value. Floats and symbols are compared as written.
 */
export function equals(a: Sexp, b: Sexp): boolean {
  const pending: [Sexp, Sexp][] = [[a, b]];
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [left, right] = pair;
    if (left === right || (isNil(left) && isNil(right))) continue;
    if (!isCompound(left) || !isCompound(right)) {
      if (isCompound(left) || isCompound(right) || !isSameAtom(left, right)) return false;
    } else if (!pushParts(pending, left, right)) return false;
  }
  return true;
}

/** Adds the parts of two compounds to `pending`; false when the two differ in kind or size. */
function pushParts(pending: [Sexp, Sexp][], left: Compound, right: Compound): boolean {
  const [leftParts, rightParts] = [parts(left), parts(right)];
  if (shape(left) !== shape(right) || leftParts.length !== rightParts.length) return false;
  for (const [index, part] of leftParts.entries()) {
    const other = rightParts[index];
    if (other === undefined) return false;
    pending.push([part, other]);
  }
  return true;
}

function shape(datum: Compound): string {
  if (!("kind" in datum)) return "list";
  return datum.kind === "array" ? `array ${datum.rank}` : datum.kind;
}

function isSameAtom(left: Atom, right: Atom): boolean {
  if (typeof left === "object" && typeof right === "object") {
    const fields = Object.entries(left);
    return left.kind === right.kind && fields.every(([field, value]) => Reflect.get(right, field) === value);
  }
  return typeof left !== "object" && typeof right !== "object" && isSameValue(left, right);
}

function isSameValue(left: string | number | bigint, right: string | number | bigint): boolean {
  const areIntegers = typeof left !== "string" && typeof right !== "string";
  return left === right || (areIntegers && left.toString() === right.toString());
}
