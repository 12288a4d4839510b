import { Char, codeAt, endsToken } from "../text/chars.js";
import { skipBars, skipString } from "../text/skip.js";
import type { Opaque } from "../types.js";
import type { Cursor } from "./cursor.js";

/**
 * Reads the `#<...>` at `offset` without interpreting it.
 *
 * Such text has no grammar, so the end is a guess: `#<` nests, strings, `|...|` and escaped characters are skipped, and
 * `>` counts only at the end of a word (not in `a->b`). If this finds no end, quotes are ignored.
 */
export function readUnreadable(cursor: Cursor, offset: number): Opaque {
  const end = unreadableEnd(cursor.text, offset);
  if (end < 0) throw cursor.error("UNCLOSED_UNREADABLE", offset);
  cursor.pos = end;
  return { kind: "opaque", text: cursor.text.slice(offset, end) };
}

/** The index after the `#<...>` at `start`, or -1 when it does not end. */
export function unreadableEnd(text: string, start: number): number {
  const strict = findEnd(text, start, skipQuoted);
  return strict < 0 ? findEnd(text, start, (_, index) => index + 1) : strict;
}

function findEnd(text: string, start: number, skip: (text: string, start: number) => number): number {
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
