import { characterNamed } from "../syntax/characters.js";
import { skipToken } from "../text/skip.js";
import type { Sexp } from "../types.js";
import type { Cursor } from "./cursor.js";

/**
 * Reads a character; the cursor is after `#\`, `offset` is that of the `#`.
 *
 * Any char may follow the backslash, including a space or a parenthesis. A name that only a Lisp knows gives an `Opaque`:
 * SBCL prints every non-ASCII letter as in `#\LATIN_SMALL_LETTER_E_WITH_ACUTE`.
 */
export function readCharacter(cursor: Cursor, offset: number): Sexp {
  const { text, pos: start } = cursor;
  const first = text.codePointAt(start);
  if (first === undefined) throw cursor.error("MISSING_DATUM", offset);
  const char = String.fromCodePoint(first);
  const end = skipToken(text, start + char.length);
  if (end < 0) throw cursor.error("UNCLOSED_SYMBOL", offset);
  cursor.pos = end;
  const name = text.slice(start, cursor.pos);
  const value = name === char ? char : characterNamed(name);
  if (value === undefined) return { kind: "opaque", text: text.slice(offset, cursor.pos) };
  return { kind: "character", value };
}
