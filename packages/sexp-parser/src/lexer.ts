import type { ReadErrorCode } from "./errors.js";

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
  star: 0x2a,
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
  for (let index = start; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 128 && classes[code] !== CharClass.constituent) return index;
  }
  return Math.max(start, text.length);
}

// Each of the following functions returns the index after the syntax that begins at `start`, or -1 when it does not end.

/** Of a string or `|...|`, which begins and ends with `delimiter`. */
export function skipDelimited(text: string, start: number, delimiter: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === delimiter) return index + 1;
    if (code === Char.backslash) index++;
  }
  return -1;
}

/** Of a token. */
function skipToken(text: string, start: number): number {
  for (let index = skipConstituents(text, start); ; index = skipConstituents(text, index)) {
    if (classAt(text, index) !== CharClass.escape) return index;
    index = codeAt(text, index) === Char.bar ? skipDelimited(text, index, Char.bar) : index + 2;
    if (index < 0 || index > text.length) return -1;
  }
}

/** Of a `;` comment, without its newline. */
function skipLineComment(text: string, start: number): number {
  const newline = text.indexOf("\n", start);
  return newline < 0 ? text.length : newline;
}

/**
 * Of the nesting `#| |#`, of which `open` have begun before `start`. If the text ends before them, it returns minus the number of those that are
 * open at its end.
 */
export function skipBlockComment(text: string, start: number, open: number): number {
  let depth = open;
  // Chars before this index already belong to a delimiter: in `#|#` the second # neither opens nor closes a comment.
  let used = start;
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
  return -depth;
}

/**
 * Of `#<...>`. Such text has no grammar, so the end is a guess: `#<` nests, strings, `|...|` and escaped characters are skipped, and `>` counts
 * only at the end of a word (not in `a->b`). If this finds no end, quotes are ignored.
 */
function skipUnreadable(text: string, start: number): number {
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
    } else if (code === Char.greater && (codeAt(text, index + 1) === Char.greater || endsToken(text, index + 1))) {
      index++;
      if (--depth === 0) return index;
    } else {
      index = skip(text, index);
    }
  }
  return -1;
}

function skipQuoted(text: string, index: number): number {
  const code = text.charCodeAt(index);
  if (code === Char.quotes || code === Char.bar) return skipDelimited(text, index, code);
  return code === Char.backslash ? index + 2 : index + 1;
}

/**
 * What a token is.
 *
 * - `string`, `token`: a string; a symbol or number. `sharp`: another atom, which begins with `#`.
 * - `open`: a parenthesis, or `#(` with the number of elements.
 * - `prefix`, `package`: applies to the next datum. A package prefix such as `cl::` is none for Lisps other than SBCL.
 * - `conditional`: `#+` or `#-`.
 * - `end`: the text is over.
 */
export const Kind = {
  token: 0,
  string: 1,
  open: 2,
  close: 3,
  whitespace: 4,
  sharp: 5,
  prefix: 6,
  dot: 7,
  lineComment: 8,
  blockComment: 9,
  conditional: 10,
  package: 11,
  end: 12,
} as const;

/** One of `Kind`: numbers, because comparing strings takes time for each token. */
export type TokenKind = (typeof Kind)[keyof typeof Kind];

/** A `#` syntax: its char in upper case, the index of that, and the number before it. */
interface Dispatch {
  readonly char: string;
  readonly index: number;
  readonly argument: number | undefined;
}

/** The `#` syntax that begins at `start`. */
export function dispatchAt(text: string, start: number): Dispatch {
  let index = start + 1;
  while (isDigit(codeAt(text, index))) index++;
  const argument = index > start + 1 ? Number(text.slice(start + 1, index)) : undefined;
  return { char: text.charAt(index).toUpperCase(), index, argument };
}

/** The chars after `#` and digits that begin a token. Unknown ones count as prefixes, since most custom syntaxes are. */
const TOKEN_CHARS = /[:*<#boxr]/i;

/** Finds the tokens of a text, one after another, without making an object for each. Nothing is read. */
export class Lexer {
  readonly text: string;
  /** The token found last. */
  start = 0;
  end = 0;
  /** The error if the text ends inside that token. */
  unclosed: ReadErrorCode | undefined;
  /** Whether the string found last has backslashes. */
  hasEscapes = false;
  #backslash = -1;

  constructor(text: string) {
    this.text = text;
  }

  /** Moves to the next token. Kinds that are frequent in printed data come first. */
  next(): TokenKind {
    const { text, end: start } = this;
    const code = codeAt(text, start);
    this.start = start;
    if (code > Char.semicolon && code !== Char.backquote) return this.#token(start);
    switch (code) {
      case -1:
        return Kind.end;
      case Char.open:
        return this.#found(Kind.open, start + 1);
      case Char.close:
        return this.#found(Kind.close, start + 1);
      case Char.quotes:
        return this.#ended(Kind.string, this.#stringEnd(start), "UNCLOSED_STRING");
      case Char.quote:
      case Char.backquote:
        return this.#found(Kind.prefix, start + 1);
      case Char.comma: {
        const next = codeAt(text, start + 1);
        return this.#found(Kind.prefix, next === Char.at || next === Char.dot ? start + 2 : start + 1);
      }
      case Char.semicolon:
        return this.#found(Kind.lineComment, skipLineComment(text, start));
      case Char.sharp:
        return this.#sharp(start);
      case Char.dot:
        return endsToken(text, start + 1) ? this.#found(Kind.dot, start + 1) : this.#token(start);
      default:
        return this.#token(start);
    }
  }

  /** Skips the first line if it begins with `#!`, as SBCL does when it loads a file. */
  skipScriptLine(): void {
    if (this.text.startsWith("#!")) this.end = skipLineComment(this.text, 0);
  }

  /** Moves the end of the `#<...>` that begins at the token to its own end. */
  extendUnreadable(): void {
    const end = skipUnreadable(this.text, this.start);
    this.unclosed = end < 0 ? "UNCLOSED_UNREADABLE" : undefined;
    this.end = end < 0 ? this.text.length : end;
  }

  #found(kind: TokenKind, end: number): TokenKind {
    this.end = end;
    return kind;
  }

  #ended(kind: TokenKind, end: number, error: ReadErrorCode): TokenKind {
    if (end < 0) this.unclosed = error;
    this.end = end < 0 ? this.text.length : end;
    return kind;
  }

  #token(start: number): TokenKind {
    const { text } = this;
    const first = skipConstituents(text, start);
    if (first > start && classAt(text, first) !== CharClass.escape) {
      this.end = first;
      return codeAt(text, first - 1) === Char.colon && isPackagePrefix(text, start, first) ? Kind.package : Kind.token;
    }
    if (classAt(text, start) !== CharClass.whitespace)
      return this.#ended(Kind.token, skipToken(text, first), "UNCLOSED_SYMBOL");
    let index = start + 1;
    while (classAt(text, index) === CharClass.whitespace) index++;
    return this.#found(Kind.whitespace, index);
  }

  #stringEnd(start: number): number {
    const { text } = this;
    let end = text.indexOf('"', start + 1);
    let backslash = this.#backslashFrom(start + 1);
    this.hasEscapes = backslash < end;
    for (; backslash < end; backslash = this.#backslashFrom(backslash + 2))
      if (backslash + 1 === end) end = text.indexOf('"', end + 1);
    return end < 0 ? end : end + 1;
  }

  /** The index of the first backslash at or after `start`, or the length of the text. One search serves all strings before it. */
  #backslashFrom(start: number): number {
    if (this.#backslash < start) {
      const found = this.text.indexOf("\\", start);
      this.#backslash = found < 0 ? this.text.length : found;
    }
    return this.#backslash;
  }

  #sharp(start: number): TokenKind {
    const { text } = this;
    const { index } = dispatchAt(text, start);
    switch (codeAt(text, index)) {
      case Char.bar:
        return this.#ended(Kind.blockComment, skipBlockComment(text, index + 1, 1), "UNCLOSED_COMMENT");
      case Char.backslash:
        // Any char may follow the backslash.
        return this.#ended(Kind.sharp, index + 1 < text.length ? skipToken(text, index + 2) : -1, "UNCLOSED_SYMBOL");
      case Char.plus:
      case Char.minus:
        return this.#found(Kind.conditional, index + 1);
      case Char.open:
        return this.#found(Kind.open, index + 1);
      case Char.quotes:
        return this.#found(Kind.prefix, index);
      default:
        if (!TOKEN_CHARS.test(text.charAt(index))) return this.#found(Kind.prefix, index + 1);
        return this.#ended(Kind.sharp, skipToken(text, index + 1), "UNCLOSED_SYMBOL");
    }
  }
}

function isDigit(code: number): boolean {
  return code >= Char.zero && code <= Char.nine;
}

/** SBCL reads the datum after `package::` in that package. */
function isPackagePrefix(text: string, start: number, end: number): boolean {
  return text.startsWith("::", end - 2) && /^[^:\\|]+::$/.test(text.slice(start, end));
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
