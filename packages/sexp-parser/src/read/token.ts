import { dividesByZero, isRational, parseNumber } from "../syntax/number.js";
import { intern } from "../syntax/symbols.js";
import { Char, CharClass, classAt, codeAt, detached, endsToken, skipConstituents, upcase } from "../text/chars.js";
import { skipBars } from "../text/skip.js";
import type { LispSymbol, Sexp } from "../types.js";
import type { Cursor } from "./cursor.js";
import { type Guess, SymbolGuesses } from "./symbol-guesses.js";

/** Symbols by token, so that most tokens need one look-up. Cleared when full. */
const known = new Map<string, Guess>();
const MAX_KNOWN = 4096;
const MAX_KNOWN_LENGTH = 64;
const guesses = new SymbolGuesses();

/** Reads the number or symbol at the cursor. `first` is the char there, a constituent or an escape. */
export function readToken(cursor: Cursor, first: number): Sexp {
  const { text, pos: start } = cursor;
  if (first >= Char.zero && first <= Char.nine) {
    const number = readSmallInteger(cursor, first);
    if (number >= 0) return number;
  }
  const guess = guesses.at(text, start);
  if (guess === undefined) return readUnguessed(cursor);
  cursor.pos = start + guess.token.length;
  return guess.symbol;
}

function readUnguessed(cursor: Cursor): Sexp {
  const { text, pos: start } = cursor;
  const end = skipConstituents(text, start);
  const token = text.slice(start, end);
  const entry = known.get(token);
  if (entry === undefined || classAt(text, end) === CharClass.escape) return readNewToken(cursor, token);
  guesses.set(text, start, entry);
  cursor.pos = end;
  return entry.symbol;
}

/** Reads a token of up to nine digits; returns -1 and does not move the cursor for any other token. */
function readSmallInteger(cursor: Cursor, first: number): number {
  const { text, pos: start } = cursor;
  let value = first - Char.zero;
  if (value < 0) return -1;
  for (let index = start + 1; index < start + 10; index++) {
    const code = codeAt(text, index);
    const digit = code - Char.zero;
    if (digit >= 0 && digit <= 9) value = value * 10 + digit;
    else if (endsToken(text, index)) {
      cursor.pos = index;
      return value;
    } else return -1;
  }
  return -1;
}

function readNewToken(cursor: Cursor, token: string): Sexp {
  const start = cursor.pos;
  const end = start + token.length;
  const hasEscapes = classAt(cursor.text, end) === CharClass.escape;
  if (!hasEscapes && token.length > cursor.maxNumberLength && isRational(token)) {
    throw cursor.error("NUMBER_TOO_LONG", start);
  }
  const number = hasEscapes ? undefined : parseNumber(token);
  if (number !== undefined) {
    cursor.pos = end;
    return number;
  }
  const symbol = resolve(cursor, start, scanToken(cursor));
  cursor.checkSymbols(start);
  if (!hasEscapes && token.length <= MAX_KNOWN_LENGTH) remember(token, symbol);
  return symbol;
}

function remember(slice: string, symbol: LispSymbol): void {
  if (known.size >= MAX_KNOWN) known.clear();
  const token = detached(slice);
  known.set(token, { token, symbol });
}

/** Reads the name after `#:`, which may be empty. */
export function readUninterned(cursor: Cursor): LispSymbol {
  const start = cursor.pos;
  const { name } = scanPart(cursor);
  if (cursor.peek() === Char.colon) throw cursor.error("INVALID_SYMBOL", start);
  const symbol = intern(name, "");
  cursor.checkSymbols(start);
  return symbol;
}

/** Part of a token up to an unescaped colon or the end, with its escapes resolved and the other chars upcased. */
interface Part {
  readonly name: string;
  readonly isEscaped: boolean;
}

interface Token {
  readonly prefix: Part | undefined;
  readonly colons: number;
  readonly name: Part;
}

function scanToken(cursor: Cursor): Token {
  const prefix = scanPart(cursor);
  const colons = skipColons(cursor);
  return colons === 0 ? { prefix: undefined, colons, name: prefix } : { prefix, colons, name: scanPart(cursor) };
}

function skipColons(cursor: Cursor): number {
  const start = cursor.pos;
  while (cursor.peek() === Char.colon) cursor.pos++;
  return cursor.pos - start;
}

function resolve(cursor: Cursor, start: number, { prefix, colons, name }: Token): LispSymbol {
  const isNameless = name.name === "" && !name.isEscaped;
  if (isNameless || colons > 2 || cursor.peek() === Char.colon) throw cursor.error("INVALID_SYMBOL", start);
  if (prefix === undefined) return resolveUnqualified(cursor, start, name);
  if (prefix.name !== "") return intern(name.name, prefix.name, colons === 2);
  if (prefix.isEscaped) throw cursor.error("INVALID_SYMBOL", start);
  return intern(name.name, "KEYWORD");
}

function resolveUnqualified(cursor: Cursor, start: number, { name, isEscaped }: Part): LispSymbol {
  if (!isEscaped && /^\.+$/.test(name)) throw cursor.error("MISPLACED_DOT", start);
  if (!isEscaped && dividesByZero(name)) throw cursor.error("INVALID_NUMBER", start);
  return intern(name);
}

function scanPart(cursor: Cursor): Part {
  const start = cursor.pos;
  let name = "";
  for (let isEscaped = false; ; isEscaped = true) {
    const end = plainEnd(cursor.text, cursor.pos);
    name += upcase(cursor.text.slice(cursor.pos, end));
    cursor.pos = end;
    const code = cursor.peek();
    if (code === Char.bar) name += readBars(cursor, start);
    else if (code === Char.backslash) name += readEscape(cursor, start);
    else return { name, isEscaped };
  }
}

function plainEnd(text: string, start: number): number {
  const end = skipConstituents(text, start);
  const colon = text.slice(start, end).indexOf(":");
  return colon < 0 ? end : start + colon;
}

function readEscape(cursor: Cursor, tokenStart: number): string {
  const escaped = cursor.text.codePointAt(cursor.pos + 1);
  if (escaped === undefined) throw cursor.error("UNCLOSED_SYMBOL", tokenStart);
  const char = String.fromCodePoint(escaped);
  cursor.pos += 1 + char.length;
  return char;
}

function readBars(cursor: Cursor, tokenStart: number): string {
  const start = cursor.pos;
  const end = skipBars(cursor.text, start);
  if (end < 0) throw cursor.error("UNCLOSED_SYMBOL", tokenStart);
  cursor.pos = end;
  return cursor.text.slice(start + 1, end - 1).replace(/\\(.)/gsu, "$1");
}
