import type { Cursor } from "./cursor.js";
import { readEscapedText } from "./escaped-text.js";

/** Reads the string whose opening quote is at the cursor. A backslash makes the next char literal, whatever it is. */
export function readString(cursor: Cursor): string {
  const { text, pos } = cursor;
  const start = pos + 1;
  const end = text.indexOf('"', start);
  if (end < 0) throw cursor.error("UNCLOSED_STRING", pos);
  if (cursor.backslashFrom(start) < end) return readEscapedString(cursor, start, end);
  cursor.pos = end + 1;
  return text.slice(start, end);
}

/** A string with more escapes is read in chunks. */
const FEW_ESCAPES = 500;

function readEscapedString(cursor: Cursor, start: number, firstQuote: number): string {
  const { text } = cursor;
  let result = "";
  let from = start;
  let end = firstQuote;
  let escapes = 0;
  for (let backslash = cursor.backslashFrom(from); backslash < end; ) {
    result += text.slice(from, backslash);
    from = backslash;
    if (++escapes > FEW_ESCAPES) return readManyEscapes(cursor, start, result, from);
    from++;
    if (from === end) end = text.indexOf('"', from + 1);
    // The search skips the escaped char, which is the first char of the next piece.
    backslash = cursor.backslashFrom(from + 1);
  }
  if (end < 0) throw cursor.error("UNCLOSED_STRING", start - 1);
  cursor.pos = end + 1;
  return result + text.slice(from, end);
}

function readManyEscapes(cursor: Cursor, start: number, before: string, from: number): string {
  const rest = readEscapedText(cursor.text, from);
  if (rest === undefined) throw cursor.error("UNCLOSED_STRING", start - 1);
  cursor.pos = rest.end;
  return before + rest.content;
}
