import { Char, codeAt } from "../text/chars.js";
import type { Sexp } from "../types.js";
import { Assembler } from "./assembler.js";
import { skipBlank } from "./blank.js";
import { Cursor, type ReadLimits } from "./cursor.js";
import { readMacro } from "./macro.js";
import { readString } from "./string.js";
import { readToken } from "./token.js";

/**
 * Reads the only datum in `text`. Whitespace and comments may surround it.
 *
 * Its strings share memory with `text`, as slices do.
 *
 * @param limits - For text from a peer that is not trusted. Default: no limits.
 * @throws {SexpError} `EMPTY`, `TRAILING_DATUM`, or the code of what is wrong in the text
 */
export function read(text: string, limits?: ReadLimits): Sexp {
  const cursor = new Cursor(text, limits);
  const datum = readNext(cursor, new Assembler(cursor));
  if (datum === undefined) throw cursor.error("EMPTY", 0);
  if (cursor.pos < text.length) skipBlank(cursor);
  if (cursor.pos < text.length) throw cursor.error("TRAILING_DATUM", cursor.pos);
  return datum;
}

/**
 * Reads all data in `text`; an empty array when there are none.
 *
 * @throws {SexpError} with the code of what is wrong in the text
 */
export function readAll(text: string): Sexp[] {
  const cursor = new Cursor(text);
  const assembler = new Assembler(cursor);
  const data: Sexp[] = [];
  for (let datum = readNext(cursor, assembler); datum !== undefined; datum = readNext(cursor, assembler)) {
    data.push(datum);
  }
  return data;
}

/** The next top-level datum, or `undefined` at the end of the text. The most frequent cases come first. */
function readNext(cursor: Cursor, assembler: Assembler): Sexp | undefined {
  const { text } = cursor;
  for (;;) {
    // Most data follow one space, so that it gets no round of its own.
    if (codeAt(text, cursor.pos) === Char.space) cursor.pos++;
    const offset = cursor.pos;
    const code = codeAt(text, offset);
    let complete: Sexp | undefined;
    if (startsToken(code)) complete = assembler.add(readToken(cursor, code), offset);
    else if (code === Char.open) assembler.open(cursor.pos++);
    else if (code === Char.close) complete = assembler.close(cursor.pos++);
    else if (code === Char.quotes) complete = assembler.add(readString(cursor), offset);
    else if (code < 0) {
      assembler.end();
      return undefined;
    } else complete = readMacro(cursor, assembler, code);
    if (complete !== undefined) return complete;
  }
}

/** Whether a token begins with the char: true for digits, letters and colons, false for some rare chars of tokens. */
function startsToken(code: number): boolean {
  return code >= Char.zero && code !== Char.semicolon && code !== Char.backquote && code !== Char.rubout;
}
