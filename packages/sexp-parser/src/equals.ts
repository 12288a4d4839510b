import { isNil } from "./syntax/kinds.js";
import type { Atom, Compound } from "./syntax/parts.js";
import { isCompound, parts } from "./syntax/parts.js";
import type { Sexp } from "./types.js";

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
