import { createdSymbols, dotted, FUNCTION, intern, isList, isNil, isSymbol, NIL, QUOTE } from "./data.js";
import { type ReadErrorCode, SexpError } from "./errors.js";
import {
  Char,
  CharClass,
  classAt,
  codeAt,
  detached,
  dispatchAt,
  Kind,
  Lexer,
  skipConstituents,
  skipDelimited,
  upcase,
} from "./lexer.js";
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

/** The symbols of tokens that were read before, because data repeat few of them. Cleared when full. */
const known = new Map<string, LispSymbol>();
const MAX_KNOWN = 4096;
const MAX_KNOWN_LENGTH = 64;

/** Digits of an integer that needs no check of its size. */
const FEW_DIGITS = 9;

/** The number of a token of few digits; `undefined` for other tokens. Most numbers are such, and a regular expression takes several times as long. */
function shortInteger(text: string, start: number, end: number): number | undefined {
  if (end - start > FEW_DIGITS) return undefined;
  let value = 0;
  for (let index = start; index < end; index++) {
    const digit = text.charCodeAt(index) - Char.zero;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value;
}

/** Turns the datum after a prefix into the datum of both. */
type Finish = (datum: Sexp) => Sexp;

/**
 * The use of the next datum in a frame: an element (`items`), the tail after a dot (`tail`), an error (`ended`), the
 * datum of a prefix (`prefix`), or a result (`top`).
 */
const Mode = { items: 0, tail: 1, ended: 2, prefix: 3, top: 4 } as const;
type Mode = (typeof Mode)[keyof typeof Mode];

/**
 * A list or prefix that is still open, or the text itself, which is its own parent.
 *
 * Frames are reused for later lists at the same depth, because creating one takes longer than reading a short list.
 */
class Frame {
  readonly parent: Frame;
  /** Lists and prefixes around the data, this one included; 0 for the text. */
  readonly depth: number;
  /** The start of the list or prefix. */
  offset = 0;
  /** The start of its elements on the value stack. */
  base = 0;
  mode: Mode = Mode.top;
  finish: Finish | undefined = undefined;
  tail: Sexp = NIL;
  #child: Frame | undefined = undefined;

  constructor(parent?: Frame) {
    this.parent = parent ?? this;
    this.depth = parent === undefined ? 0 : parent.depth + 1;
  }

  /** The frame for a list or prefix directly inside. */
  begin(offset: number, base: number, mode: Mode, finish?: Finish): Frame {
    this.#child ??= new Frame(this);
    const child = this.#child;
    child.offset = offset;
    child.base = base;
    child.mode = mode;
    child.finish = finish;
    child.tail = NIL;
    return child;
  }
}

/**
 * Builds data from parentheses, dots, prefixes and atoms, with an explicit stack instead of recursion.
 *
 * Elements wait on one value stack. At the end of their list they become an array of the right size.
 */
class Assembler {
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #values: Sexp[] = [];
  #top = 0;
  #frame = new Frame();

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
  }

  /** Adds a datum that begins at `offset`; returns the top-level datum that it completes, if any. */
  add(datum: Sexp, offset: number): Sexp | undefined {
    if (this.#frame.mode !== Mode.items) return this.#addSpecial(datum, offset);
    this.#values[this.#top++] = datum;
    return undefined;
  }

  #addSpecial(value: Sexp, offset: number): Sexp | undefined {
    let datum = value;
    let start = offset;
    while (this.#frame.finish !== undefined) {
      const { finish, parent } = this.#frame;
      start = this.#frame.offset;
      this.#frame = parent;
      datum = finish(datum);
    }
    if (this.#frame.mode === Mode.top) return datum;
    if (this.#frame.mode !== Mode.items) return this.#addTail(this.#frame, datum, start);
    this.#values[this.#top++] = datum;
    return undefined;
  }

  /** Begins a list. After a dot its elements continue the list around it, since `(a . (b))` is `(a b)`. */
  open(offset: number): void {
    this.#frame = this.#frame.begin(offset, this.#top, Mode.items);
    this.#checkDepth(offset);
  }

  /** Begins a syntax that applies to the next datum. */
  prefix(offset: number, finish: Finish): undefined {
    this.#frame = this.#frame.begin(offset, this.#top, Mode.prefix, finish);
    this.#checkDepth(offset);
  }

  #checkDepth(offset: number): void {
    if (this.#frame.depth > this.#maxDepth) throw this.#error("NESTED_TOO_DEEP", offset);
  }

  #error(code: ReadErrorCode, offset: number): SexpError {
    return new SexpError(code, this.#text, offset);
  }

  /** Begins the tail of a dotted list. */
  dot(offset: number): undefined {
    const frame = this.#frame;
    if (frame.mode !== Mode.items || this.#top === frame.base) throw this.#error("MISPLACED_DOT", offset);
    frame.mode = Mode.tail;
  }

  /** Ends the innermost list; returns the top-level datum that this completes, if any. */
  close(offset: number): Sexp | undefined {
    const frame = this.#frame;
    if (frame.mode === Mode.prefix) throw this.#error("MISSING_DATUM", frame.offset);
    if (frame.mode === Mode.top) throw this.#error("UNEXPECTED_CLOSE", offset);
    if (frame.mode === Mode.tail) throw this.#error("MISPLACED_DOT", offset);
    this.#frame = frame.parent;
    if (frame.parent.mode === Mode.tail) return this.#addTail(frame.parent, frame.tail, offset);
    const items = this.#values.slice(frame.base, this.#top);
    this.#top = frame.base;
    return this.add(dotted(items, frame.tail), frame.offset);
  }

  /** Throws when the text ends inside a list or after a prefix. */
  end(): void {
    const { mode, offset } = this.#frame;
    if (mode === Mode.top) return;
    throw this.#error(mode === Mode.prefix ? "MISSING_DATUM" : "UNCLOSED_LIST", offset);
  }

  #addTail(frame: Frame, datum: Sexp, offset: number): undefined {
    if (frame.mode === Mode.ended) throw this.#error("MISPLACED_DOT", offset);
    frame.tail = datum;
    frame.mode = Mode.ended;
  }
}

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
      const kind = lexer.next();
      let complete: Sexp | undefined;
      switch (kind) {
        case Kind.string:
          complete = assembler.add(this.#string(), lexer.start);
          break;
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
  #string(): string {
    this.#checkClosed();
    const { text, start, end, hasEscapes } = this.#lexer;
    const content = text.slice(start + 1, end - 1);
    return hasEscapes ? unescaped(content) : content;
  }

  /** The number or symbol at the lexer. */
  #token(start: number, end: number): Sexp {
    const { text } = this.#lexer;
    const token = text.slice(start, end);
    return shortInteger(text, start, end) ?? known.get(token) ?? this.#newToken(token, start);
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
      known.set(detached(token), symbol);
    }
    return symbol;
  }

  #checkSymbols(offset: number): void {
    if (createdSymbols() > this.#lastSymbol) throw this.#error("TOO_MANY_SYMBOLS", offset);
  }

  #prefix(prefix: string): void {
    const { start } = this.#lexer;
    const quoted = QUOTES.get(prefix);
    if (quoted === undefined) this.#sharpPrefix(start);
    else this.#assembler.prefix(start, quoted);
  }

  /** `#n=`, `#n#` and `#.` become opaque text, including the datum after them. */
  #sharpPrefix(offset: number): void {
    const { char, argument } = dispatchAt(this.#lexer.text, offset);
    const literal = LITERALS.get(char);
    if (literal !== undefined) {
      this.#assembler.prefix(offset, (datum) => this.#fitted(literal(datum, argument), offset));
    } else if (char === "." || (char === "=" && argument !== undefined)) {
      this.#assembler.prefix(offset, () => this.#opaque(offset));
    } else throw this.#error(char === "" ? "MISSING_DATUM" : "UNKNOWN_DISPATCH", offset);
  }

  #vector(): void {
    const lexer = this.#lexer;
    const offset = lexer.start;
    const { argument } = dispatchAt(lexer.text, offset);
    this.#assembler.prefix(offset, (datum) => this.#fitted(toVector(datum, argument), offset));
    this.#assembler.open(lexer.end - 1);
  }

  #sharp(offset: number): Sexp {
    const lexer = this.#lexer;
    const { char, index, argument } = dispatchAt(lexer.text, offset);
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
    this.#lexer.extendUnreadable();
    this.#checkClosed();
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

/** The content of a string without the backslash before each literal char. */
function unescaped(content: string): string {
  let text = "";
  let from = 0;
  for (let backslash = content.indexOf("\\"); backslash >= 0; backslash = content.indexOf("\\", from + 1)) {
    text += content.slice(from, backslash);
    from = backslash + 1;
  }
  return text + content.slice(from);
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

/** The data that quotes, backquotes and commas make of the datum after them. */
export const QUOTES: ReadonlyMap<string, (datum: Sexp) => Sexp> = new Map([
  ["'", (datum: Sexp): Sexp => [QUOTE, datum]],
  ["`", (datum: Sexp): Sexp => ({ kind: "backquote", datum })],
  [",", (datum: Sexp): Sexp => ({ kind: "unquote", datum })],
  [",@", (datum: Sexp): Sexp => ({ kind: "splice", datum })],
  [",.", (datum: Sexp): Sexp => ({ kind: "nsplice", datum })],
]);

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
