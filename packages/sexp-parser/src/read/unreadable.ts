import { Char, codeAt, endsToken } from "../text/chars.js";
import { skipBars, skipString } from "../text/skip.js";
import type { Opaque } from "../types.js";
import type { Cursor } from "./cursor.js";

/**
 * Reads the `#<...>` at `offset` as it stands.
 *
 * Such text follows no grammar, so this is best effort: `#<` nests, strings, `|...|` and escaped characters are passed
 * over, and a `>` only counts at the end of a word (not in `a->b`). Where that finds no end, quotes count for nothing.
 */
export function readUnreadable(cursor: Cursor, offset: number): Opaque {
  const { text } = cursor;
  const strict = unreadableEnd(text, offset, skipQuoted);
  const end = strict < 0 ? unreadableEnd(text, offset, (_, index) => index + 1) : strict;
  if (end < 0) throw cursor.error("UNCLOSED_UNREADABLE", offset);
  cursor.pos = end;
  return { kind: "opaque", text: text.slice(offset, end) };
}

function unreadableEnd(text: string, start: number, skip: (text: string, start: number) => number): number {
  let depth = 0;
  for (let index = start; index >= 0 && index < text.length; ) {
    const code = text.charCodeAt(index);
    if (code === Char.sharp && codeAt(text, index + 1) === Char.less) {
      depth++;
      index += 2;
    } else if (code === Char.greater && endsWord(text, index + 1)) {
      index++;
      if (--depth === 0) return index;
    } else {
      index = skip(text, index);
    }
  }
  return -1;
}

function endsWord(text: string, index: number): boolean {
  return codeAt(text, index) === Char.greater || endsToken(text, index);
}

function skipQuoted(text: string, index: number): number {
  const code = text.charCodeAt(index);
  if (code === Char.quotes) return skipString(text, index);
  if (code === Char.bar) return skipBars(text, index);
  return code === Char.backslash ? index + 2 : index + 1;
}
