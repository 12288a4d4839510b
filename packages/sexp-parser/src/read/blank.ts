import { Char, CharClass, classAt, codeAt } from "../text/chars.js";
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

/** The index of the newline that ends the `;` comment at `start`, or the length of the text. */
export function skipLineComment(text: string, start: number): number {
  const newline = text.indexOf("\n", start);
  return newline < 0 ? text.length : newline;
}

/** The index after the nesting `#| |#` at `start`, or -1 when it does not end. */
export function skipBlockComment(text: string, start: number): number {
  let depth = 1;
  // Chars before this index already belong to a delimiter: in `#|#` the second # opens or closes nothing.
  let used = start + 2;
  for (let bar = text.indexOf("|", used); bar >= 0; bar = text.indexOf("|", Math.max(used, bar + 1))) {
    if (bar > used && text.charCodeAt(bar - 1) === Char.sharp) {
      depth++;
      used = bar + 1;
    } else if (codeAt(text, bar + 1) === Char.sharp) {
      depth--;
      used = bar + 2;
    }
    if (depth === 0) return used;
  }
  return -1;
}
