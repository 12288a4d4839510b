import { Char, CharClass, classAt, codeAt } from "../text/chars.js";
import { skipBlockComment, skipLineComment } from "../text/skip.js";
import type { Cursor } from "./cursor.js";

/** Moves the cursor over whitespace and comments of both kinds. */
export function skipBlank(cursor: Cursor): undefined {
  for (;;) {
    const code = cursor.peek();
    if (classAt(cursor.text, cursor.pos) === CharClass.whitespace) cursor.pos++;
    else if (code === Char.semicolon) cursor.pos = skipLineComment(cursor.text, cursor.pos);
    else if (code === Char.sharp && codeAt(cursor.text, cursor.pos + 1) === Char.bar) skipComment(cursor);
    else return undefined;
  }
}

function skipComment(cursor: Cursor): void {
  const end = skipBlockComment(cursor.text, cursor.pos);
  if (end < 0) throw cursor.error("UNCLOSED_COMMENT", cursor.pos);
  cursor.pos = end;
}
