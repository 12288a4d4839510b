/** Names of characters by code. The first name of each code is the one that SBCL prints. */
const NAMES: readonly (readonly [code: number, ...names: string[]])[] = [
  [0x00, "Nul", "Null"],
  [0x01, "Soh"],
  [0x02, "Stx"],
  [0x03, "Etx"],
  [0x04, "Eot"],
  [0x05, "Enq"],
  [0x06, "Ack"],
  [0x07, "Bel"],
  [0x08, "Backspace", "Bs"],
  [0x09, "Tab", "Ht"],
  [0x0a, "Newline", "Linefeed", "Lf"],
  [0x0b, "Vt"],
  [0x0c, "Page", "Formfeed", "Ff"],
  [0x0d, "Return", "Cr"],
  [0x0e, "So"],
  [0x0f, "Si"],
  [0x10, "Dle"],
  [0x11, "Dc1"],
  [0x12, "Dc2"],
  [0x13, "Dc3"],
  [0x14, "Dc4"],
  [0x15, "Nak"],
  [0x16, "Syn"],
  [0x17, "Etb"],
  [0x18, "Can"],
  [0x19, "Em"],
  [0x1a, "Sub"],
  [0x1b, "Esc", "Escape", "Altmode", "Alt"],
  [0x1c, "Fs"],
  [0x1d, "Gs"],
  [0x1e, "Rs"],
  [0x1f, "Us"],
  [0x20, "Space", "Sp"],
  [0x7f, "Rubout", "Delete", "Del"],
  [0x85, "Next-Line"],
  [0xa0, "No-Break_Space"],
];

const printedNames = new Map<number, string>(NAMES.map(([code, name = ""]) => [code, name]));
const codes = new Map<string, number>(
  NAMES.flatMap(([code, ...names]) => names.map((name): [string, number] => [name.toUpperCase(), code])),
);

/**
 * The character with a name, in any case: a standard or semi-standard name, SBCL's name of a control character, or a
 * code such as `U+41` or `U41`. `undefined` for other names (`LATIN_SMALL_LETTER_A`), which only a Lisp knows.
 */
export function characterNamed(name: string): string | undefined {
  const code = codes.get(name.toUpperCase()) ?? hexCode(name);
  return code === undefined ? undefined : String.fromCodePoint(code);
}

function hexCode(name: string): number | undefined {
  const digits = /^u\+?([0-9a-f]{1,6})$/i.exec(name)?.[1];
  const code = Number.parseInt(digits ?? "", 16);
  return code <= 0x10ffff ? code : undefined;
}

/** The text after `#\` for a character: the character itself, or its name when it is invisible or not valid in UTF-8. */
export function characterName(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  const isControl = code >= 0x80 && code < 0xa0;
  return printedNames.get(code) ?? (isSurrogate || isControl ? `U${code.toString(16).toUpperCase()}` : char);
}
