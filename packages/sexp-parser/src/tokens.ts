import type { Sexp } from "./types.js";

const INTEGER = /^[+-]?\d+\.?$/;
const RATIO = /^([+-]?\d+)\/(\d+)$/;
const FLOAT = /^[+-]?(?:\d*\.\d+(?:[esfdl][+-]?\d+)?|\d+(?:\.\d*)?[esfdl][+-]?\d+)$/i;
const EXPONENT_MARKER = /[sfdl]/i;

/** Longer ratios are not reduced, since finding the divisor takes quadratic time. */
const MAX_REDUCED_RATIO = 4096;

/** The number that a token without escapes stands for in base ten; `undefined` for a symbol or a zero denominator. */
export function parseNumber(token: string): Sexp | undefined {
  if (INTEGER.test(token)) return parseInteger(token);
  if (FLOAT.test(token)) return { kind: "float", value: floatValue(token), text: token };
  const ratio = RATIO.exec(token);
  return ratio === null ? undefined : parseRatio(ratio[1] ?? "", ratio[2] ?? "", 10);
}

/** Whether the token has the form of an integer or ratio in base ten. */
export function isRational(token: string): boolean {
  return INTEGER.test(token) || RATIO.test(token);
}

/** Whether the token has the form of a float, in any of the float formats. */
export function isFloat(token: string): boolean {
  return FLOAT.test(token);
}

/** Whether the token is a number with a denominator of zero. */
export function dividesByZero(token: string): boolean {
  return /^[+-]?\d+\/0+$/.test(token);
}

/** The double nearest to the text of a float; single and short floats are not rounded to their own precision. */
function floatValue(text: string): number {
  return Number(text.replace(EXPONENT_MARKER, "e"));
}

function parseInteger(token: string): number | bigint {
  const value = Number(token);
  if (Number.isSafeInteger(value)) return value + 0;
  return BigInt(token.replace(/^\+|\.$/g, ""));
}

/** A rational in a radix other than ten, as after `#x`; `undefined` when the token has other digits or a zero denominator. */
export function parseRadix(token: string, radix: number): Sexp | undefined {
  const parts = /^([+-]?[0-9a-z]+)(?:\/([0-9a-z]+))?$/i.exec(token);
  const [, numerator = "", denominator] = parts ?? [];
  if (!hasDigits(numerator.replace(/^[+-]/, ""), radix)) return undefined;
  if (denominator === undefined) return narrow(parseDigits(numerator, radix));
  return hasDigits(denominator, radix) ? parseRatio(numerator, denominator, radix) : undefined;
}

function hasDigits(digits: string, radix: number): boolean {
  if (digits === "") return false;
  for (const digit of digits) if (!(Number.parseInt(digit, 36) < radix)) return false;
  return true;
}

function parseRatio(numerator: string, denominator: string, radix: number): Sexp | undefined {
  const top = parseDigits(numerator, radix);
  const bottom = parseDigits(denominator, radix);
  if (bottom === 0n) return undefined;
  if (numerator.length + denominator.length > MAX_REDUCED_RATIO) return ratio(top, bottom);
  const divisor = greatestCommonDivisor(top, bottom);
  return bottom === divisor ? narrow(top / divisor) : ratio(top / divisor, bottom / divisor);
}

function ratio(numerator: bigint, denominator: bigint): Sexp {
  return { kind: "ratio", numerator, denominator };
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  let [larger, smaller] = [a < 0n ? -a : a, b];
  while (smaller !== 0n) [larger, smaller] = [smaller, larger % smaller];
  return larger;
}

function parseDigits(signed: string, radix: number): bigint {
  const magnitude = parseMagnitude(signed.replace(/^[+-]/, ""), radix);
  return signed.startsWith("-") ? -magnitude : magnitude;
}

// Splitting in halves keeps the time below quadratic; the recursion depth is logarithmic.
function parseMagnitude(digits: string, radix: number): bigint {
  if (radix === 10) return BigInt(digits);
  if (digits.length <= 10) return BigInt(Number.parseInt(digits, radix));
  const low = digits.length >> 1;
  const high = parseMagnitude(digits.slice(0, -low), radix);
  return high * BigInt(radix) ** BigInt(low) + parseMagnitude(digits.slice(-low), radix);
}

/** The integer as a number when a number represents it exactly. */
function narrow(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/**
 * Whether some Lisp may read a name as a number (CLHS 2.3.1.1). The printer writes such names between bars.
 *
 * Such a name contains a digit, begins with a digit, a sign, a dot, `^` or `_`, does not end with a sign, and has no two
 * adjacent letters.
 */
export function isPotentialNumber(name: string): boolean {
  return /^[0-9+\-.^_][0-9A-Z+\-/.^_]*$/i.test(name) && /\d/.test(name) && !/[+-]$|[A-Z]{2}/i.test(name);
}

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
