import type { Cursor } from "./cursor.js";

/** Reads the string whose opening quote is at the cursor. Only `\` escapes, and it stands for nothing but the next char. */
export function readString(cursor: Cursor): string {
  const { text, pos } = cursor;
  const start = pos + 1;
  const end = text.indexOf('"', start);
  if (end < 0) throw cursor.error("UNCLOSED_STRING", pos);
  const content = text.slice(start, end);
  if (content.includes("\\")) return readEscapedString(cursor, start, end);
  cursor.pos = end + 1;
  return content;
}

function readEscapedString(cursor: Cursor, start: number, firstQuote: number): string {
  const { text } = cursor;
  let result = "";
  let from = start;
  let end = firstQuote;
  for (let backslash = text.indexOf("\\", from); backslash >= 0 && backslash < end; ) {
    result += text.slice(from, backslash);
    from = backslash + 1;
    if (from === end) end = text.indexOf('"', from + 1);
    // The escaped char begins the next piece: it is passed over here and copied with what follows it.
    backslash = text.indexOf("\\", from + 1);
  }
  if (end < 0) throw cursor.error("UNCLOSED_STRING", start - 1);
  cursor.pos = end + 1;
  return result + text.slice(from, end);
}
