import { Char, codeAt, Kind, Lexer, type TokenKind } from "./lexer.js";
import { LineCounter, type Position, positionAt } from "./position.js";

/** A top-level form of a source text, including prefixes such as `'` and `#+sbcl`. The position is its start. */
export interface FormSpan extends Position {
  /** The offset after its last char. */
  readonly end: number;
}

interface Scanned {
  /** The complete top-level forms before the problem, if there is one. */
  readonly forms: readonly FormSpan[];
}

/** Every parenthesis, string, symbol and comment is closed. */
export interface Balanced extends Scanned {
  readonly kind: "balanced";
}

/** The text ends inside a list. */
export interface UnclosedList extends Scanned {
  readonly kind: "unclosed-list";
  /** The number of missing closing parentheses. */
  readonly missing: number;
  /** The innermost open parenthesis. */
  readonly innermost: Position;
  /** The outermost open parenthesis, where the unfinished top-level form begins. */
  readonly outermost: Position;
}

/** A closing parenthesis that matches no opening one; the scan stops there. */
export interface ExtraClose extends Scanned {
  readonly kind: "extra-close";
  readonly position: Position;
}

/** The text ends inside a string, a symbol (`|...|`, or after a backslash) or a block comment. */
export interface Unterminated extends Scanned {
  readonly kind: "unterminated";
  readonly what: "string" | "symbol" | "comment";
  /** Its start; for nested comments that of the outermost. */
  readonly start: Position;
  /** The number of lists open there. */
  readonly depth: number;
}

/** The text ends after a prefix such as `'` or `#+sbcl`, without the form it applies to. */
export interface MissingForm extends Scanned {
  readonly kind: "missing-form";
  /** The start of the prefix. */
  readonly start: Position;
}

/** The result of `scan`. */
export type ScanResult = Balanced | UnclosedList | ExtraClose | Unterminated | MissingForm;

/** Follows the data and parentheses of a text while it is scanned. */
export interface Tracker {
  /** The complete top-level forms. */
  readonly forms: readonly FormSpan[];
  /** Offsets of the open parentheses, outermost first. */
  readonly open: readonly number[];
  /** The start of the open top-level form; -1 between forms. */
  readonly start: number;
  /** A datum or prefix begins. */
  begin(offset: number): void;
  /** Lets the open form need one more datum, as after `#+`. Matters at top level only. */
  extend(): void;
  /** A list begins. */
  push(offset: number): void;
  /** A list ends before `end`; false when no list is open. */
  pop(end: number): boolean;
  /** A datum ends before `end`. */
  end(end: number): void;
}

/**
 * Finds the top-level forms of Lisp source text, and the first syntax in it that is not closed, or closes nothing.
 * Nothing is read.
 *
 * Handles strings, `|symbols|`, escapes, characters such as `#\(`, both kinds of comments, and a first line that begins with `#!`. Takes linear time, at any
 * depth. The result holds for the standard readtable only.
 */
export function scan(source: string): ScanResult {
  return track(source, new Outline(source));
}

/** Scans the text with another tracker than that of {@link scan}. */
export function track(text: string, tracker: Tracker): ScanResult {
  const lexer = new Lexer(text);
  lexer.skipScriptLine();
  for (let kind = lexer.next(); kind !== Kind.end; kind = lexer.next()) {
    if (lexer.unclosed !== undefined) return unterminated(lexer, tracker);
    if (kind === Kind.close) {
      if (!tracker.pop(lexer.end)) {
        return { kind: "extra-close", position: positionAt(text, lexer.start), forms: tracker.forms };
      }
    } else follow(kind, lexer, tracker);
  }
  return ended(text, tracker);
}

function follow(kind: TokenKind, { text, start, end }: Lexer, tracker: Tracker): void {
  switch (kind) {
    case Kind.open:
      // Of #(, the parenthesis opens.
      if (codeAt(text, start) === Char.sharp) tracker.begin(start);
      tracker.push(end - 1);
      return;
    case Kind.prefix:
      tracker.begin(start);
      return;
    case Kind.conditional:
      tracker.begin(start);
      tracker.extend();
      return;
    case Kind.whitespace:
    case Kind.lineComment:
    case Kind.blockComment:
      return;
    default:
      tracker.begin(start);
      tracker.end(end);
  }
}

const UNTERMINATED: Readonly<Record<string, Unterminated["what"]>> = {
  UNCLOSED_STRING: "string",
  UNCLOSED_COMMENT: "comment",
};

function unterminated({ text, start, unclosed }: Lexer, { forms, open }: Tracker): Unterminated {
  const what = UNTERMINATED[unclosed ?? ""] ?? "symbol";
  return { kind: "unterminated", what, start: positionAt(text, start), depth: open.length, forms };
}

function ended(text: string, { forms, open, start }: Tracker): ScanResult {
  const [outermost, innermost] = [open.at(0), open.at(-1)];
  if (outermost !== undefined && innermost !== undefined) {
    return {
      kind: "unclosed-list",
      missing: open.length,
      innermost: positionAt(text, innermost),
      outermost: positionAt(text, outermost),
      forms,
    };
  }
  return start < 0 ? { kind: "balanced", forms } : { kind: "missing-form", start: positionAt(text, start), forms };
}

/** Tracks the open parentheses of a text, and the starts and ends of its top-level forms. */
class Outline implements Tracker {
  readonly #lines: LineCounter;
  readonly #forms: FormSpan[] = [];
  readonly #open: number[] = [];
  #start = -1;
  #needed = 0;

  constructor(text: string) {
    this.#lines = new LineCounter(text);
  }

  get forms(): readonly FormSpan[] {
    return this.#forms;
  }

  get open(): readonly number[] {
    return this.#open;
  }

  get start(): number {
    return this.#start;
  }

  begin(offset: number): void {
    if (this.#start >= 0) return;
    this.#start = offset;
    this.#needed = 1;
  }

  extend(): void {
    if (this.#open.length === 0) this.#needed++;
  }

  push(offset: number): void {
    this.begin(offset);
    this.#open.push(offset);
  }

  pop(end: number): boolean {
    if (this.#open.pop() === undefined) return false;
    this.end(end);
    return true;
  }

  end(end: number): void {
    if (this.#open.length > 0 || --this.#needed > 0) return;
    const { offset, line, column } = this.#lines.at(this.#start);
    this.#forms.push({ offset, line, column, end });
    this.#start = -1;
  }
}

/** What is no code in a token: a string, a character, a name in bars. */
const QUOTED = /^".*|^#\\.?[\w-]*|(?<!\\)\|(?:\\.|[^|\\])*\|?/gsu;

/**
 * The code with spaces in place of its comments and, if `all`, of its strings, characters and names in bars; line breaks stay, and so do all
 * offsets. What is not closed extends to the end. Takes linear time.
 */
export function bareCode(code: string, all = false): string {
  const lexer = new Lexer(code);
  const parts: string[] = [];
  for (let kind = lexer.next(); kind !== Kind.end; kind = lexer.next()) {
    const text = code.slice(lexer.start, lexer.end);
    if (kind === Kind.lineComment || kind === Kind.blockComment) parts.push(blank(text));
    else parts.push(all ? text.replace(QUOTED, blank) : text);
  }
  return parts.join("");
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}
