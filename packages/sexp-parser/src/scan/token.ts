import { skipBars } from "../read/string.js";
import { Char, CharClass, classAt, codeAt, skipConstituents } from "../text/chars.js";

/** The index after the token at `start`, or -1 when the text ends inside `|...|` or after a backslash. */
export function skipToken(text: string, start: number): number {
  for (let index = skipConstituents(text, start); ; index = skipConstituents(text, index)) {
    if (classAt(text, index) !== CharClass.escape) return index;
    index = codeAt(text, index) === Char.bar ? skipBars(text, index) : index + 2;
    if (index < 0 || index > text.length) return -1;
  }
}
