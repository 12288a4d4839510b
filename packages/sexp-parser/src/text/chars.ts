/** The syntax type of a character for the standard reader, outside strings and comments. */
export const CharClass = { constituent: 0, escape: 1, terminator: 2, whitespace: 3 } as const;

/** Codes of the characters with a meaning in the syntax. */
export const Char = {
  newline: 0x0a,
  space: 0x20,
  quotes: 0x22,
  sharp: 0x23,
  quote: 0x27,
  open: 0x28,
  close: 0x29,
  plus: 0x2b,
  comma: 0x2c,
  minus: 0x2d,
  dot: 0x2e,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  semicolon: 0x3b,
  less: 0x3c,
  greater: 0x3e,
  at: 0x40,
  backslash: 0x5c,
  backquote: 0x60,
  bar: 0x7c,
  rubout: 0x7f,
} as const;

const classes = new Uint8Array(128);
for (const char of "\"'(),;`") classes[char.charCodeAt(0)] = CharClass.terminator;
for (const char of "\t\n\f\r \x7f") classes[char.charCodeAt(0)] = CharClass.whitespace;
for (const char of "\\|") classes[char.charCodeAt(0)] = CharClass.escape;

/** The char code at an index, -1 past the end: `charCodeAt` would return NaN, which takes hot loops off integers. */
export function codeAt(text: string, index: number): number {
  return index < text.length ? text.charCodeAt(index) : -1;
}

/** The class of the char at an index. Non-ASCII chars are constituents, as in SBCL; the end of the text is a terminator. */
export function classAt(text: string, index: number): number {
  if (index >= text.length) return CharClass.terminator;
  const code = text.charCodeAt(index);
  return code >= 128 ? CharClass.constituent : (classes[code] ?? CharClass.constituent);
}

/** Whether a token ends before the char at an index; true at the end of the text. */
export function endsToken(text: string, index: number): boolean {
  return classAt(text, index) >= CharClass.terminator;
}

/** The index of the first char at or after `start` that is not a plain constituent. */
export function skipConstituents(text: string, start: number): number {
  let index = start;
  while (classAt(text, index) === CharClass.constituent) index++;
  return index;
}

/** Lower-case letters that Lisp upcases. SBCL's Unicode is older than the capitals that Georgian got in version 11. */
const SMALL_LETTER = /(?![\u10d0-\u10ff])\p{Ll}/gu;

/** Converts to upper case as the Lisp reader does: letter by letter, and only letters whose upper case converts back. */
export function upcase(text: string): string {
  return /\P{ASCII}/u.test(text) ? text.replace(SMALL_LETTER, upcaseLetter) : text.toUpperCase();
}

function upcaseLetter(letter: string): string {
  const upper = letter.toUpperCase();
  return upper.toLowerCase() === letter && upper.length === letter.length ? upper : letter;
}

/**
 * A copy of a slice that does not share memory with its text.
 *
 * A slice keeps its whole text alive, so strings that outlive a message are copied.
 */
export function detached(slice: string): string {
  return ` ${slice}`.slice(1);
}
