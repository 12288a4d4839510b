/** What a character means to the standard reader, outside strings and comments. */
export const CharClass = { constituent: 0, terminator: 1, whitespace: 2, escape: 3 } as const;

/** Char codes that the syntax gives a meaning to. */
export const Char = {
  newline: 0x0a,
  space: 0x20,
  quotes: 0x22,
  sharp: 0x23,
  quote: 0x27,
  open: 0x28,
  close: 0x29,
  asterisk: 0x2a,
  plus: 0x2b,
  comma: 0x2c,
  minus: 0x2d,
  dot: 0x2e,
  slash: 0x2f,
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
} as const;

const classes = new Uint8Array(128);
for (const char of "\"'(),;`") classes[char.charCodeAt(0)] = CharClass.terminator;
for (const char of "\t\n\f\r \x7f") classes[char.charCodeAt(0)] = CharClass.whitespace;
for (const char of "\\|") classes[char.charCodeAt(0)] = CharClass.escape;

/** The class of a char code. Everything outside ASCII is a constituent, as in SBCL; NaN (past the end) terminates. */
export function classOf(code: number): number {
  if (code >= 128) return CharClass.constituent;
  return classes[code] ?? CharClass.terminator;
}

/** Whether a char code ends a token; true past the end of the text. */
export function endsToken(code: number): boolean {
  const kind = classOf(code);
  return kind === CharClass.terminator || kind === CharClass.whitespace;
}

/** The index of the first char at or after `start` that is not a plain constituent. */
export function skipConstituents(text: string, start: number): number {
  let index = start;
  while (classOf(text.charCodeAt(index)) === CharClass.constituent) index++;
  return index;
}

/** Upper case as the Lisp reader does it: character by character, and only where lower case leads back. */
export function upcase(text: string): string {
  const upper = text.toUpperCase();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole ASCII range is meant
  if (/^[\0-\x7f]*$/.test(text)) return upper;
  let result = "";
  for (const char of text) result += upcaseCharacter(char);
  return result;
}

function upcaseCharacter(char: string): string {
  const upper = char.toUpperCase();
  return upper.toLowerCase() === char && upper.length === char.length ? upper : char;
}
