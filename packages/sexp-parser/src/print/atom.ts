import { PrintError } from "../errors.js";
import { characterName } from "../syntax/characters.js";
import { isFloat } from "../syntax/number.js";
import type { Atom } from "../syntax/parts.js";
import { printSymbol } from "./symbol.js";

/** The text of an atom. */
export function printAtom(atom: Atom): string {
  if (typeof atom === "string") return printString(atom);
  if (typeof atom === "number") return printInteger(atom);
  if (typeof atom === "bigint") return atom.toString();
  switch (atom.kind) {
    case "symbol":
      return printSymbol(atom);
    case "float":
      return checked(atom.text, isFloat(atom.text), "A float with the text");
    case "ratio":
      return checked(`${atom.numerator}/${atom.denominator}`, atom.denominator > 0n, "The ratio");
    case "character":
      return `#\\${checked(characterName(atom.value), [...atom.value].length === 1, "The character")}`;
    case "bit-vector":
      return `#*${checked(atom.bits, /^[01]*$/.test(atom.bits), "A bit vector of")}`;
    case "pathname":
      return `#P${printString(atom.namestring)}`;
    case "opaque":
      return atom.text;
  }
}

/** A Lisp string: only `"` and `\` are escaped, every other character stands for itself. */
function printString(text: string): string {
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, "\\$&") : text}"`;
}

function printInteger(value: number): string {
  return checked(String(value + 0), Number.isSafeInteger(value), "The number");
}

function checked(text: string, isValid: boolean, what: string): string {
  if (!isValid) throw new PrintError(`${what} ${text}`);
  return text;
}
