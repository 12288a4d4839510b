import { QUOTE } from "../syntax/symbols.js";
import { Char, endsToken } from "../text/chars.js";
import type { Quasi, Sexp } from "../types.js";
import { Assembler } from "./assembler.js";
import { skipBlank } from "./blank.js";
import { Cursor } from "./cursor.js";
import { readDispatch } from "./dispatch.js";
import { readString } from "./string.js";
import { readToken } from "./token.js";

/**
 * The one datum in `text`, with whitespace and comments around it.
 *
 * @throws {SexpError} `EMPTY`, `TRAILING_DATUM`, or the code of what is wrong in the text
 */
export function read(text: string): Sexp {
  const cursor = new Cursor(text);
  const datum = readNext(cursor, new Assembler(cursor));
  if (datum === undefined) throw cursor.error("EMPTY", 0);
  skipBlank(cursor);
  if (cursor.pos < text.length) throw cursor.error("TRAILING_DATUM", cursor.pos);
  return datum;
}

/**
 * All data in `text`, one after the other; an empty array when there are none.
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

/** The next top-level datum, or `undefined` at the end of the text. */
function readNext(cursor: Cursor, assembler: Assembler): Sexp | undefined {
  const { text } = cursor;
  for (;;) {
    skipBlank(cursor);
    const offset = cursor.pos;
    if (offset >= text.length) {
      assembler.end();
      return undefined;
    }
    const complete = readElement(cursor, assembler, offset);
    if (complete !== undefined) return complete;
  }
}

/** Reads one parenthesis, prefix, dot or atom; gives the top-level datum that it completes, if any. */
function readElement(cursor: Cursor, assembler: Assembler, offset: number): Sexp | undefined {
  switch (cursor.text.charCodeAt(offset)) {
    case Char.open:
      cursor.pos++;
      assembler.open(offset);
      return undefined;
    case Char.close:
      cursor.pos++;
      return assembler.close(offset);
    default: {
      const atom = readAtom(cursor, assembler, offset);
      return atom === undefined ? undefined : assembler.add(atom, offset);
    }
  }
}

/** Reads one atom, or tells the assembler of a prefix or dot. */
function readAtom(cursor: Cursor, assembler: Assembler, offset: number): Sexp | undefined {
  switch (cursor.text.charCodeAt(offset)) {
    case Char.quotes:
      return readString(cursor);
    case Char.sharp:
      return readDispatch(cursor, assembler);
    case Char.quote:
      cursor.pos++;
      return void assembler.prefix(offset, (datum) => [QUOTE, datum]);
    case Char.backquote:
      return readQuasi(cursor, assembler, "backquote", 1);
    case Char.comma:
      return readComma(cursor, assembler);
    case Char.dot:
      if (!endsToken(cursor.text.charCodeAt(offset + 1))) return readToken(cursor);
      cursor.pos++;
      return void assembler.dot(offset);
    default:
      return readToken(cursor);
  }
}

function readComma(cursor: Cursor, assembler: Assembler): undefined {
  const next = cursor.text.charCodeAt(cursor.pos + 1);
  if (next === Char.at) return readQuasi(cursor, assembler, "splice", 2);
  if (next === Char.dot) return readQuasi(cursor, assembler, "nsplice", 2);
  return readQuasi(cursor, assembler, "unquote", 1);
}

function readQuasi(cursor: Cursor, assembler: Assembler, kind: Quasi["kind"], length: number): undefined {
  assembler.prefix(cursor.pos, (datum) => ({ kind, datum }));
  cursor.pos += length;
}
