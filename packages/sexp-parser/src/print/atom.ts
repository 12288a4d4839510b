import { PrintError } from "../errors.js";
import { characterName } from "../syntax/characters.js";
import { isFloat } from "../syntax/number.js";
import type { Atom } from "../syntax/parts.js";
import { printString } from "./string.js";
import { printSymbol } from "./symbol.js";

/** The text of an atom. */
export function printAtom(atom: Atom): string {
  if (typeof atom === "string") return printString(atom);
  if (typeof atom === "number") return printInteger(atom);
  if (typeof atom === "bigint") return atom.toString();
  if (typeof atom !== "object") throw unprintable(atom);
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
      return `#P${printString(checkedText(atom.namestring, "The text of a pathname"))}`;
    case "opaque":
      return checkedText(atom.text, "The text of an opaque datum");
    default:
      throw unprintable(atom);
  }
}

/** The error for a value that is not Lisp data, such as `undefined`, a boolean or a function. */
export function unprintable(value: unknown): PrintError {
  return new PrintError(`A JavaScript value (${describe(value)})`);
}

function describe(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  return "kind" in value ? `an object of the kind ${String(value.kind)}` : "an object without a kind";
}

/** Callers without TypeScript can put any value into a field. */
function checkedText(text: string, what: string): string {
  if (typeof text !== "string") throw new PrintError(`${what}, ${describe(text)},`);
  return text;
}

function printInteger(value: number): string {
  return checked(String(value + 0), Number.isSafeInteger(value), "The number");
}

function checked(text: string, isValid: boolean, what: string): string {
  if (!isValid) throw new PrintError(`${what} ${text}`);
  return text;
}
