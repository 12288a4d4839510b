import { Char, CharClass, classAt, codeAt, skipConstituents } from "./chars.js";

// Each of these functions returns the index after the syntax that begins at `start`.

/** The index after the string whose opening quote is at `start`, or -1 when it does not end. */
export function skipString(text: string, start: number): number {
  return skipDelimited(text, start, Char.quotes);
}

/** The index after the `|...|` whose opening bar is at `start`, or -1 when it does not end. */
export function skipBars(text: string, start: number): number {
  return skipDelimited(text, start, Char.bar);
}

function skipDelimited(text: string, start: number, delimiter: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === delimiter) return index + 1;
    if (code === Char.backslash) index++;
  }
  return -1;
}

/** The index after the token at `start`, or -1 when the text ends inside `|...|` or after a backslash. */
export function skipToken(text: string, start: number): number {
  for (let index = skipConstituents(text, start); ; index = skipConstituents(text, index)) {
    if (classAt(text, index) !== CharClass.escape) return index;
    index = codeAt(text, index) === Char.bar ? skipBars(text, index) : index + 2;
    if (index < 0 || index > text.length) return -1;
  }
}

/** The index of the newline that ends the `;` comment at `start`, or the length of the text. */
export function skipLineComment(text: string, start: number): number {
  const newline = text.indexOf("\n", start);
  return newline < 0 ? text.length : newline;
}

/** The index after the nesting `#| |#` at `start`, or -1 when it does not end. */
export function skipBlockComment(text: string, start: number): number {
  let depth = 1;
  // Chars before this index already belong to a delimiter: in `#|#` the second # neither opens nor closes a comment.
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
