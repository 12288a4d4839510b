import { parseRadix } from "../syntax/number.js";
import { skipConstituents } from "../text/chars.js";
import type { Sexp } from "../types.js";
import type { Assembler } from "./assembler.js";
import { readCharacter } from "./character.js";
import type { Cursor } from "./cursor.js";
import { LITERALS, toBits } from "./literals.js";
import { readUninterned } from "./token.js";
import { readUnreadable } from "./unreadable.js";

/** A `#` syntax: the `offset` of the `#`, and the `argument` between `#` and its char, if any. The cursor is after the char. */
interface Dispatch {
  readonly cursor: Cursor;
  readonly offset: number;
  readonly argument: number | undefined;
}

/** Syntaxes that need no further datum. */
const ATOMS = new Map<string, (at: Dispatch) => Sexp>([
  ["\\", ({ cursor, offset }) => readCharacter(cursor, offset)],
  [":", ({ cursor }) => readUninterned(cursor)],
  ["<", ({ cursor, offset }) => readUnreadable(cursor, offset)],
  ["*", readBits],
  ["#", toOpaque],
  ["B", (at) => readRadix(at, 2)],
  ["O", (at) => readRadix(at, 8)],
  ["X", (at) => readRadix(at, 16)],
  ["R", (at) => readRadix(at, at.argument ?? 0)],
]);

/** Prefixes that keep the datum after them as text. */
const OPAQUE_PREFIXES = ".=";

/**
 * Reads the syntax at the cursor, which is at a `#`: returns its datum, or begins a prefix in the assembler.
 *
 * `#n=`, `#n#` and `#.` become opaque text, including the datum after them.
 */
export function readDispatch(cursor: Cursor, assembler: Assembler): Sexp | undefined {
  const offset = cursor.pos;
  const argument = readArgument(cursor, offset);
  const char = cursor.text.charAt(cursor.pos).toUpperCase();
  const at = { cursor, offset, argument };
  refuse(at, char);
  const readAtom = ATOMS.get(char);
  if (char !== "(") cursor.pos++;
  if (readAtom !== undefined) return readAtom(at);
  const literal = LITERALS.get(char);
  assembler.prefix(offset, (datum) => (literal === undefined ? toOpaque(at) : fitted(at, literal(datum, argument))));
  return undefined;
}

function refuse({ cursor, offset, argument }: Dispatch, char: string): void {
  if (char === "") throw cursor.error("MISSING_DATUM", offset);
  if (char === "+" || char === "-") throw cursor.error("FEATURE_EXPRESSION", offset);
  const isLabel = char === "#" || char === "=";
  const isKnown = ATOMS.has(char) || LITERALS.has(char) || OPAQUE_PREFIXES.includes(char);
  if (!isKnown || (isLabel && argument === undefined)) throw cursor.error("UNKNOWN_DISPATCH", offset);
}

function readArgument(cursor: Cursor, offset: number): number | undefined {
  const digits = /\d*/y;
  digits.lastIndex = offset + 1;
  const [text = ""] = digits.exec(cursor.text) ?? [];
  cursor.pos = offset + 1 + text.length;
  return text === "" ? undefined : Number(text);
}

function readRadix(at: Dispatch, radix: number): Sexp {
  const token = readPlainToken(at.cursor);
  if (token.length > at.cursor.maxNumberLength) throw at.cursor.error("NUMBER_TOO_LONG", at.offset);
  const number = radix >= 2 && radix <= 36 ? parseRadix(token, radix) : undefined;
  if (number === undefined) throw at.cursor.error("INVALID_NUMBER", at.offset);
  return number;
}

function readBits(at: Dispatch): Sexp {
  return fitted(at, toBits(readPlainToken(at.cursor), at.argument));
}

function readPlainToken(cursor: Cursor): string {
  const start = cursor.pos;
  cursor.pos = skipConstituents(cursor.text, start);
  return cursor.text.slice(start, cursor.pos);
}

function toOpaque({ cursor, offset }: Dispatch): Sexp {
  return { kind: "opaque", text: cursor.text.slice(offset, cursor.pos) };
}

function fitted({ cursor, offset }: Dispatch, datum: Sexp | undefined): Sexp {
  if (datum === undefined) throw cursor.error("INVALID_LITERAL", offset);
  return datum;
}
