import { QUOTE } from "../syntax/symbols.js";
import { Char, CharClass, classAt, codeAt, endsToken } from "../text/chars.js";
import type { Quasi, Sexp } from "../types.js";
import type { Assembler } from "./assembler.js";
import { skipBlank } from "./blank.js";
import type { Cursor } from "./cursor.js";
import { readDispatch } from "./dispatch.js";
import { readToken } from "./token.js";

/** Reads blanks, a dot, a prefix or a `#` syntax; returns the top-level datum that this completes, if any. */
export function readMacro(cursor: Cursor, assembler: Assembler, code: number): Sexp | undefined {
  const offset = cursor.pos;
  const atom = isBlank(cursor, code) ? skipBlank(cursor) : readAtom(cursor, assembler, code);
  return atom === undefined ? undefined : assembler.add(atom, offset);
}

function isBlank({ text, pos }: Cursor, code: number): boolean {
  if (code === Char.sharp) return codeAt(text, pos + 1) === Char.bar;
  return code === Char.semicolon || classAt(text, pos) === CharClass.whitespace;
}

/** Returns an atom, or passes a prefix or dot to the assembler. */
function readAtom(cursor: Cursor, assembler: Assembler, code: number): Sexp | undefined {
  switch (code) {
    case Char.sharp:
      return readDispatch(cursor, assembler);
    case Char.quote:
      return assembler.prefix(cursor.pos++, (datum) => [QUOTE, datum]);
    case Char.backquote:
      return readQuasi(cursor, assembler, "backquote", 1);
    case Char.comma:
      return readComma(cursor, assembler);
    case Char.dot:
      return endsToken(cursor.text, cursor.pos + 1) ? assembler.dot(cursor.pos++) : readToken(cursor, code);
    default:
      return readToken(cursor, code);
  }
}

function readComma(cursor: Cursor, assembler: Assembler): undefined {
  const next = codeAt(cursor.text, cursor.pos + 1);
  if (next === Char.at) return readQuasi(cursor, assembler, "splice", 2);
  if (next === Char.dot) return readQuasi(cursor, assembler, "nsplice", 2);
  return readQuasi(cursor, assembler, "unquote", 1);
}

function readQuasi(cursor: Cursor, assembler: Assembler, kind: Quasi["kind"], length: number): undefined {
  assembler.prefix(cursor.pos, (datum) => ({ kind, datum }));
  cursor.pos += length;
}
