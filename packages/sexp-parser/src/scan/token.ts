import { skipBars } from "../read/string.js";
import { Char, CharClass, classOf, skipConstituents } from "../text/chars.js";

/** The index after the token at `start`, or -1 when the text ends inside `|...|` or after a backslash. */
export function skipToken(text: string, start: number): number {
  for (let index = skipConstituents(text, start); ; index = skipConstituents(text, index)) {
    const code = text.charCodeAt(index);
    if (classOf(code) !== CharClass.escape) return index;
    index = code === Char.bar ? skipBars(text, index) : index + 2;
    if (index < 0 || index > text.length) return -1;
  }
}
