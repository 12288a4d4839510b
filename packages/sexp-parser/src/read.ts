import { Assembler } from "./assembler.js";
import { createdSymbols, FUNCTION, intern, isList, isNil, isSymbol, QUOTE } from "./data.js";
import { type ReadErrorCode, SexpError } from "./errors.js";
import {
  Char,
  CharClass,
  classAt,
  codeAt,
  detached,
  endsToken,
  Kind,
  Lexer,
  skipConstituents,
  skipDelimited,
  skipUnreadable,
  upcase,
} from "./lexer.js";
import { readEscaped } from "./strings.js";
import { characterNamed, dividesByZero, isRational, parseNumber, parseRadix } from "./tokens.js";
import type { LispSymbol, Sexp } from "./types.js";

/** Limits for a text from a peer that is not trusted. */
interface ReadLimits {
  /** The most lists and prefixes around a datum. Default: no limit. */
  readonly maxDepth?: number | undefined;
  /** The most symbols that did not exist before. Default: no limit. */
  readonly maxNewSymbols?: number | undefined;
  /**
   * Characters of an integer or ratio, its sign and slash included. Floats need no limit. Default: no limit; a million digits then take
   * about half a second, and the time grows faster than the length.
   */
  readonly maxNumberLength?: number | undefined;
}

/**
 * Reads the only datum in `text`. Whitespace and comments may surround it.
 *
 * Its strings share memory with `text`, as slices do.
 *
 * @param limits - For text from a peer that is not trusted. Default: no limits.
 * @throws {SexpError} `EMPTY`, `TRAILING_DATUM`, or the code of what is wrong in the text
 */
export function read(text: string, limits?: ReadLimits): Sexp {
  const reader = new Reader(text, limits);
  const datum = reader.next();
  if (datum === undefined) throw new SexpError("EMPTY", text, 0);
  reader.finish();
  return datum;
}

/**
 * Reads all data in `text`; an empty array when there are none.
 *
 * @throws {SexpError} with the code of what is wrong in the text
 */
export function readAll(text: string): Sexp[] {
  const reader = new Reader(text);
  const data: Sexp[] = [];
  for (let datum = reader.next(); datum !== undefined; datum = reader.next()) data.push(datum);
  return data;
}

/** Larger than any text in memory. A small integer, so that engines compare it fast with other limits. */
const NO_LIMIT = 2 ** 30 - 1;

/** A token and its symbol. */
interface Guess {
  readonly token: string;
  readonly symbol: LispSymbol;
}

/** A guess depends on this many chars from the start of the token, including those after a shorter token. */
const WIDTH = 4;
const SLOTS = 1024;
/** Tokens with the same first chars that are kept: replies have `:warnings`, `:warning-counts` and `:warnings-omitted`. */
const KEPT = 4;

/** One of the tokens with the same first chars. */
interface Entry extends Guess {
  next: Entry | undefined;
}

/**
 * Guesses the symbol from the first chars of a token and compares the whole token. This takes half the time of finding
 * the end of the token and looking it up. Property lists repeat the same few keywords.
 *
 * The size is bounded: of tokens with the same first chars only the latest few are kept.
 */
class SymbolGuesses {
  readonly #slots: (Entry | undefined)[] = new Array<Entry | undefined>(SLOTS).fill(undefined);

  /** The guess for the token at `start`, if it is correct. */
  at(text: string, start: number): Guess | undefined {
    if (start + WIDTH > text.length) return undefined;
    for (let entry = this.#slots[slotAt(text, start)]; entry !== undefined; entry = entry.next) {
      const end = start + entry.token.length;
      if (endsToken(text, end) && text.slice(start, end) === entry.token) return entry;
    }
    return undefined;
  }

  /** Stores the symbol of the token at `start`, which `at` did not find. */
  set(text: string, start: number, { token, symbol }: Guess): void {
    if (start + WIDTH > text.length) return;
    const slot = slotAt(text, start);
    const first: Entry = { token, symbol, next: this.#slots[slot] };
    this.#slots[slot] = first;
    let last: Entry | undefined = first;
    for (let count = 1; count < KEPT && last !== undefined; count++) last = last.next;
    if (last !== undefined) last.next = undefined;
  }
}

/** Ignores the first two chars: the first is nearly always the colon of a keyword, and reading each char takes time. */
function slotAt(text: string, start: number): number {
  return (text.charCodeAt(start + 2) * 31 + text.charCodeAt(start + 3)) & (SLOTS - 1);
}

/** Symbols by token, so that most tokens need one look-up. Cleared when full. */
const known = new Map<string, Guess>();
const MAX_KNOWN = 4096;
const MAX_KNOWN_LENGTH = 64;

const guesses = new SymbolGuesses();

const QUASI = { "`": "backquote", ",": "unquote", ",@": "splice", ",.": "nsplice" } as const;

/** Reads the data of a text one after another. */
class Reader {
  readonly #lexer: Lexer;
  readonly #assembler: Assembler;
  readonly #maxNumberLength: number;
  /** The most symbols that may exist after reading. */
  readonly #lastSymbol: number;

  constructor(text: string, { maxDepth, maxNewSymbols, maxNumberLength }: ReadLimits = {}) {
    this.#lexer = new Lexer(text);
    this.#assembler = new Assembler(text, maxDepth ?? NO_LIMIT);
    this.#maxNumberLength = maxNumberLength ?? NO_LIMIT;
    this.#lastSymbol = createdSymbols() + (maxNewSymbols ?? NO_LIMIT);
  }

  /** The next top-level datum, or `undefined` at the end of the text. */
  next(): Sexp | undefined {
    const lexer = this.#lexer;
    const assembler = this.#assembler;
    const { text } = lexer;
    for (;;) {
      // Most data follow one space, so that it gets no round of its own.
      if (codeAt(text, lexer.end) === Char.space) lexer.end++;
      const start = lexer.end;
      const code = codeAt(text, start);
      // The most frequent tokens need no other look.
      const datum = this.#frequent(code, start);
      if (datum !== undefined) {
        const done = assembler.add(datum, start);
        if (done !== undefined) return done;
        continue;
      }
      if (code === Char.open) {
        lexer.end++;
        assembler.open(start);
        continue;
      }
      const kind = lexer.next();
      let complete: Sexp | undefined;
      switch (kind) {
        case Kind.token:
        case Kind.package:
          complete = assembler.add(this.#token(lexer.start, lexer.end), lexer.start);
          break;
        case Kind.open:
          if (codeAt(text, lexer.start) === Char.sharp) this.#vector();
          else assembler.open(lexer.start);
          break;
        case Kind.close:
          complete = assembler.close(lexer.start);
          break;
        case Kind.end:
          assembler.end();
          return undefined;
        case Kind.sharp:
          complete = assembler.add(this.#sharp(lexer.start), lexer.start);
          break;
        case Kind.dot:
          assembler.dot(lexer.start);
          break;
        case Kind.prefix:
          this.#prefix(text.slice(lexer.start, lexer.end));
          break;
        case Kind.conditional:
          throw this.#error("FEATURE_EXPRESSION", lexer.start);
        default:
          this.#blank();
      }
      if (complete !== undefined) return complete;
    }
  }

  /** The datum at `start` if that is a string, a short integer or a symbol that was read lately; otherwise nothing is read. */
  #frequent(code: number, start: number): Sexp | undefined {
    const lexer = this.#lexer;
    const { text } = lexer;
    if (code === Char.quotes) return this.#string(start);
    if (code < Char.zero || code === Char.semicolon) return undefined;
    if (code <= Char.nine) return this.#shortInteger(start);
    const guess = guesses.at(text, start);
    if (guess === undefined) return undefined;
    lexer.end = start + guess.token.length;
    return guess.symbol;
  }

  #shortInteger(start: number): number | undefined {
    const { text } = this.#lexer;
    let value = 0;
    for (let index = start; index < start + 10; index++) {
      const digit = codeAt(text, index) - Char.zero;
      if (digit >= 0 && digit <= 9) value = value * 10 + digit;
      else if (endsToken(text, index)) {
        this.#lexer.end = index;
        return value;
      } else return undefined;
    }
    return undefined;
  }

  /** Checks that nothing but blanks follows. */
  finish(): void {
    const lexer = this.#lexer;
    while (lexer.end < lexer.text.length) {
      const kind = lexer.next();
      const isBlank = kind === Kind.whitespace || kind === Kind.lineComment || kind === Kind.blockComment;
      if (!isBlank) throw this.#error("TRAILING_DATUM", lexer.start);
      this.#blank();
    }
  }

  #error(code: ReadErrorCode, offset: number): SexpError {
    return new SexpError(code, this.#lexer.text, offset);
  }

  #checkClosed(): void {
    const { unclosed, start } = this.#lexer;
    if (unclosed !== undefined) throw this.#error(unclosed, start);
  }

  #blank(): void {
    const { text, start } = this.#lexer;
    this.#checkClosed();
    // A comment has no number.
    if (text.charCodeAt(start) === Char.sharp && codeAt(text, start + 1) !== Char.bar)
      throw this.#error("UNKNOWN_DISPATCH", start);
  }

  /** A backslash makes the next char literal, whatever it is. */
  #string(offset: number): string {
    const lexer = this.#lexer;
    const { text } = lexer;
    const start = offset + 1;
    const end = text.indexOf('"', start);
    if (end >= 0 && lexer.backslashFrom(start) >= end) {
      lexer.end = end + 1;
      return text.slice(start, end);
    }
    const escaped = end < 0 ? undefined : readEscaped(lexer, start, end);
    if (escaped === undefined) throw this.#error("UNCLOSED_STRING", offset);
    lexer.end = escaped.end;
    return escaped.content;
  }

  /** The number or symbol at the lexer. */
  #token(start: number, end: number): Sexp {
    const { text } = this.#lexer;
    const token = text.slice(start, end);
    const entry = known.get(token);
    if (entry === undefined) return this.#newToken(token, start);
    guesses.set(text, start, entry);
    return entry.symbol;
  }

  #newToken(token: string, start: number): Sexp {
    const hasEscapes = /[\\|]/.test(token);
    if (!hasEscapes && token.length > this.#maxNumberLength && isRational(token)) {
      throw this.#error("NUMBER_TOO_LONG", start);
    }
    const number = hasEscapes ? undefined : parseNumber(token);
    if (number !== undefined) return number;
    const symbol = new Name(token, (code) => this.#error(code, start)).symbol();
    this.#checkSymbols(start);
    if (!hasEscapes && token.length <= MAX_KNOWN_LENGTH) {
      if (known.size >= MAX_KNOWN) known.clear();
      const copy = detached(token);
      known.set(copy, { token: copy, symbol });
    }
    return symbol;
  }

  #checkSymbols(offset: number): void {
    if (createdSymbols() > this.#lastSymbol) throw this.#error("TOO_MANY_SYMBOLS", offset);
  }

  #prefix(prefix: string): void {
    const { start } = this.#lexer;
    if (prefix === "'") this.#assembler.prefix(start, (datum) => [QUOTE, datum]);
    else if (prefix === "`" || prefix === "," || prefix === ",@" || prefix === ",.") {
      const kind = QUASI[prefix];
      this.#assembler.prefix(start, (datum) => ({ kind, datum }));
    } else this.#sharpPrefix(start);
  }

  /** `#n=`, `#n#` and `#.` become opaque text, including the datum after them. */
  #sharpPrefix(offset: number): void {
    const { char, argument } = this.#dispatch(offset);
    const literal = LITERALS.get(char);
    if (literal !== undefined) {
      this.#assembler.prefix(offset, (datum) => this.#fitted(literal(datum, argument), offset));
    } else if (char === "." || (char === "=" && argument !== undefined)) {
      this.#assembler.prefix(offset, () => this.#opaque(offset));
    } else throw this.#error(char === "" ? "MISSING_DATUM" : "UNKNOWN_DISPATCH", offset);
  }

  #vector(): void {
    const lexer = this.#lexer;
    const { argument } = this.#dispatch(lexer.start);
    const offset = lexer.start;
    this.#assembler.prefix(offset, (datum) => this.#fitted(toVector(datum, argument), offset));
    this.#assembler.open(lexer.end - 1);
  }

  /** The char of a `#` syntax, in upper case, its index, and the number before it. */
  #dispatch(offset: number): { readonly char: string; readonly index: number; readonly argument: number | undefined } {
    const { text } = this.#lexer;
    const digits = /\d*/y;
    digits.lastIndex = offset + 1;
    const [number = ""] = digits.exec(text) ?? [];
    const index = offset + 1 + number.length;
    return { char: text.charAt(index).toUpperCase(), index, argument: number === "" ? undefined : Number(number) };
  }

  #sharp(offset: number): Sexp {
    const lexer = this.#lexer;
    const { char, index, argument } = this.#dispatch(offset);
    const rest = () => {
      lexer.end = skipConstituents(lexer.text, index + 1);
      return lexer.text.slice(index + 1, lexer.end);
    };
    switch (char) {
      case "\\":
        return this.#character(offset, index + 1);
      case ":":
        return this.#uninterned(lexer.text.slice(index + 1, lexer.end), index + 1);
      case "<":
        return this.#unreadable(offset);
      case "*":
        return this.#fitted(toBits(rest(), argument), offset);
      case "#":
        if (argument === undefined) throw this.#error("UNKNOWN_DISPATCH", offset);
        lexer.end = index + 1;
        return this.#opaque(offset);
      case "R":
        return this.#radix(rest(), argument ?? 0, offset);
      default:
        return this.#radix(rest(), char === "X" ? 16 : char === "O" ? 8 : 2, offset);
    }
  }

  /**
   * A name that only a Lisp knows gives an `Opaque`: SBCL prints every non-ASCII letter as in `#\LATIN_SMALL_LETTER_E_WITH_ACUTE`.
   */
  #character(offset: number, start: number): Sexp {
    const { text, end } = this.#lexer;
    if (start >= text.length) throw this.#error("MISSING_DATUM", offset);
    this.#checkClosed();
    const name = text.slice(start, end);
    const value = name === String.fromCodePoint(text.codePointAt(start) ?? 0) ? name : characterNamed(name);
    return value === undefined ? this.#opaque(offset) : { kind: "character", value };
  }

  #uninterned(name: string, start: number): Sexp {
    const { unclosed } = this.#lexer;
    if (unclosed !== undefined) throw this.#error(unclosed, start);
    const symbol = new Name(name, (code) => this.#error(code, start)).uninterned();
    this.#checkSymbols(start);
    return symbol;
  }

  #unreadable(offset: number): Sexp {
    const end = skipUnreadable(this.#lexer.text, offset);
    if (end < 0) throw this.#error("UNCLOSED_UNREADABLE", offset);
    this.#lexer.unclosed = undefined;
    this.#lexer.end = end;
    return this.#opaque(offset);
  }

  #radix(token: string, radix: number, offset: number): Sexp {
    if (token.length > this.#maxNumberLength) throw this.#error("NUMBER_TOO_LONG", offset);
    const number = radix >= 2 && radix <= 36 ? parseRadix(token, radix) : undefined;
    if (number === undefined) throw this.#error("INVALID_NUMBER", offset);
    return number;
  }

  #opaque(offset: number): Sexp {
    return { kind: "opaque", text: this.#lexer.text.slice(offset, this.#lexer.end) };
  }

  #fitted(datum: Sexp | undefined, offset: number): Sexp {
    if (datum === undefined) throw this.#error("INVALID_LITERAL", offset);
    return datum;
  }
}

/** Part of a token up to an unescaped colon or the end, with its escapes resolved and the other chars upcased. */
interface Part {
  readonly name: string;
  readonly isEscaped: boolean;
}

/** The text of a symbol. */
class Name {
  readonly #text: string;
  readonly #error: (code: ReadErrorCode) => SexpError;
  #pos = 0;

  constructor(text: string, error: (code: ReadErrorCode) => SexpError) {
    this.#text = text;
    this.#error = error;
  }

  symbol(): LispSymbol {
    const first = this.#part();
    const start = this.#pos;
    while (codeAt(this.#text, this.#pos) === Char.colon) this.#pos++;
    const colons = this.#pos - start;
    const { name, isEscaped } = colons === 0 ? first : this.#part();
    const isNameless = name === "" && !isEscaped;
    if (isNameless || colons > 2 || this.#pos < this.#text.length) throw this.#error("INVALID_SYMBOL");
    if (colons === 0) return this.#unqualified(first);
    if (first.name !== "") return intern(name, first.name, colons === 2);
    if (first.isEscaped) throw this.#error("INVALID_SYMBOL");
    return intern(name, "KEYWORD");
  }

  /** The name after `#:`, which may be empty. */
  uninterned(): LispSymbol {
    const { name } = this.#part();
    if (this.#pos < this.#text.length) throw this.#error("INVALID_SYMBOL");
    return intern(name, "");
  }

  #unqualified({ name, isEscaped }: Part): LispSymbol {
    if (!isEscaped && /^\.+$/.test(name)) throw this.#error("MISPLACED_DOT");
    if (!isEscaped && dividesByZero(name)) throw this.#error("INVALID_NUMBER");
    return intern(name);
  }

  #part(): Part {
    let name = "";
    for (let isEscaped = false; ; isEscaped = true) {
      const end = skipConstituents(this.#text, this.#pos);
      const colon = this.#text.slice(this.#pos, end).indexOf(":");
      const start = this.#pos;
      this.#pos = colon < 0 ? end : start + colon;
      name += upcase(this.#text.slice(start, this.#pos));
      if (classAt(this.#text, this.#pos) !== CharClass.escape) return { name, isEscaped };
      name += this.#escaped(codeAt(this.#text, this.#pos) === Char.bar);
    }
  }

  #escaped(isBar: boolean): string {
    const start = this.#pos + 1;
    const char = String.fromCodePoint(this.#text.codePointAt(start) ?? 0);
    const end = isBar ? skipDelimited(this.#text, this.#pos, Char.bar) : start + char.length;
    if (end < 0 || end > this.#text.length) throw this.#error("UNCLOSED_SYMBOL");
    this.#pos = end;
    return isBar ? this.#text.slice(start, end - 1).replace(/\\(.)/gsu, "$1") : char;
  }
}

// Each of these functions returns `undefined` when the datum after the prefix does not fit the syntax.

/** The `#` syntaxes that convert the datum after them, by their char in upper case. `argument` is the number before the char. */
export const LITERALS: ReadonlyMap<string, (datum: Sexp, argument: number | undefined) => Sexp | undefined> = new Map([
  ["'", (datum: Sexp): Sexp => [FUNCTION, datum]],
  ["(", toVector],
  ["A", toArray],
  ["C", toComplex],
  ["P", toPathname],
  ["S", toStructure],
]);

/** The limit for `n` in `#n(a)`, so that a short text cannot use up the memory. */
const MAX_FILLED_LENGTH = 1_000_000;

/** `#(items)`, or `#n(items)` where the last item is repeated. */
function toVector(datum: Sexp, length: number | undefined): Sexp | undefined {
  const items = itemsOf(datum);
  if (items === undefined) return undefined;
  const last = items.at(-1);
  const missing = missingItems(items.length, length);
  if (missing === 0) return { kind: "vector", items };
  if (missing === undefined || last === undefined) return undefined;
  return { kind: "vector", items: [...items, ...Array.from({ length: missing }, () => last)] };
}

/** `#*bits`, or `#n*bits` where the last bit is repeated. */
function toBits(bits: string, length: number | undefined): Sexp | undefined {
  const missing = missingItems(bits.length, length);
  if (missing === undefined || !/^[01]*$/.test(bits) || (missing > 0 && bits === "")) return undefined;
  return { kind: "bit-vector", bits: bits + bits.slice(-1).repeat(missing) };
}

function missingItems(present: number, length: number | undefined): number | undefined {
  if (length === undefined || length === present) return 0;
  return length < present || length > MAX_FILLED_LENGTH ? undefined : length - present;
}

/** `#nA contents`. */
function toArray(contents: Sexp, rank: number | undefined): Sexp | undefined {
  return rank === undefined ? undefined : { kind: "array", rank, contents };
}

/** `#C(real imaginary)`. */
function toComplex(datum: Sexp): Sexp | undefined {
  const [real, imaginary, ...more] = itemsOf(datum) ?? [];
  if (real === undefined || imaginary === undefined || more.length > 0) return undefined;
  return { kind: "complex", real, imaginary };
}

/** `#P"namestring"`. */
function toPathname(datum: Sexp): Sexp | undefined {
  return typeof datum === "string" ? { kind: "pathname", namestring: datum } : undefined;
}

/** `#S(name :slot value ...)`. */
function toStructure(datum: Sexp): Sexp | undefined {
  const [name, ...slots] = itemsOf(datum) ?? [];
  return name !== undefined && isSymbol(name) ? { kind: "structure", name, slots } : undefined;
}

function itemsOf(datum: Sexp): readonly Sexp[] | undefined {
  if (isList(datum)) return datum;
  return isNil(datum) ? [] : undefined;
}
