import { Char, CharClass, classAt, codeAt, skipBlockComment, skipConstituents, skipDelimited } from "./lexer.js";

/** A double quote or a bar that is probably missing in a line of source text, or is one too many there. */
export interface MisquotedLine {
  /** Line number from 1. */
  readonly line: number;
  readonly mark: '"' | "|";
}

/**
 * The line where a double quote or bar is probably missing or surplus, if correcting it makes the text look more like Lisp source than
 * correcting a parenthesis does: what begins in column 1 with a parenthesis is a definition, lists are indented, a string begins after a
 * blank or parenthesis and ends before one, and code is no prose.
 *
 * For text that `scan` finds unbalanced. Takes linear time, and gives up on texts of more than 200,000 chars.
 */
export function misquotedLine(source: string): MisquotedLine | undefined {
  if (source.length > MAX_LENGTH) return undefined;
  let intact: Path = START;
  let corrected: readonly Path[] = [];
  let line = 0;
  for (const text of source.split("\n")) {
    line++;
    const next = corrected.map((path) => read(path, text));
    for (const { mark, edited } of corrections(intact, text)) {
      const cost = intact.cost + (mark === "(" ? 0 : Cost.quote);
      next.push(read({ ...intact, cost, edit: { line, mark } }, edited));
    }
    intact = read(intact, text);
    next.push(...closings(intact, line));
    corrected = cheapest(next);
  }
  const [best] = corrected.map((path) => ({ ...path, cost: path.cost + costOfEnd(path) })).sort(byCost);
  const edit = best?.edit;
  return edit === undefined || edit.mark === "(" ? undefined : { line: edit.line, mark: edit.mark };
}

/** What is open, innermost first. */
interface List {
  /** Column of the parenthesis from 0, with tabs. */
  readonly column: number;
  readonly outer: List | undefined;
  readonly depth: number;
  /** Equal for equal lists of columns. */
  readonly hash: number;
}

type Mode = "code" | "string" | "bar" | "comment";

/** One way to understand the text up to a line: as it is, or with one correction. */
interface Path {
  readonly mode: Mode;
  /** Nesting of block comments. */
  readonly comments: number;
  readonly lists: List | undefined;
  /** How unlike Lisp source the text has been so far. */
  readonly cost: number;
  readonly edit: { readonly line: number; readonly mark: '"' | "|" | "(" } | undefined;
}

const START: Path = { mode: "code", comments: 0, lists: undefined, cost: 0, edit: undefined };

const MAX_LENGTH = 200_000;
/** Ways to understand a text that are followed. */
const MAX_PATHS = 10;
/** Chars that all corrections of one line may read together, beyond two readings. */
const MAX_READ = 3000;

/** What each oddity costs. */
const Cost = {
  definitionInList: 6,
  definitionInString: 6,
  formInString: 3,
  indentedFormInString: 0.7,
  textInString: 0.15,
  closingInString: 0.4,
  definitionInComment: 1,
  textInComment: 0.1,
  lineInBar: 3,
  outdented: 2,
  indentedTopLevel: 1.5,
  textAtTopLevel: 1,
  oddStart: 3,
  oddEnd: 3,
  blankInside: 0.4,
  prose: 1.5,
  word: 0.4,
  capital: 0.3,
  surplusClose: 8,
  unfinished: 30,
  unclosed: 5,
  /** A quote or bar is wrong less often than a parenthesis. */
  quote: 8,
} as const;

function byCost(one: Path, other: Path): number {
  return one.cost - other.cost;
}

function costOfEnd({ mode, lists }: Path): number {
  return (mode === "code" ? 0 : Cost.unfinished) + (lists === undefined ? 0 : Cost.unclosed + Math.min(lists.depth, 5));
}

/** The cheapest of the paths with the same future. */
function cheapest(paths: readonly Path[]): readonly Path[] {
  const best = new Map<number, Path>();
  for (const path of paths) {
    const key = futureKey(path);
    const known = best.get(key);
    if (known === undefined || path.cost < known.cost) best.set(key, path);
  }
  return [...best.values()].sort(byCost).slice(0, MAX_PATHS);
}

const MODES: readonly Mode[] = ["code", "string", "bar", "comment"];

function futureKey({ mode, comments, lists, edit }: Path): number {
  const state = (comments * MODES.length + MODES.indexOf(mode)) * 2 + (edit?.mark === "(" ? 1 : 0);
  return (lists?.hash ?? 0) + state * 2 ** 32;
}

function closings(path: Path, line: number): Path[] {
  if (path.mode !== "code" || path.lists === undefined) return [];
  const edit = { line, mark: "(" } as const;
  return [
    { ...path, lists: path.lists.outer, edit },
    { ...path, lists: undefined, edit },
  ];
}

interface Correction {
  readonly mark: '"' | "|" | "(";
  readonly edited: string;
}

/** The texts that a line may be meant to be. */
function* corrections({ mode }: Path, text: string): Generator<Correction> {
  let left = Math.max(2, Math.floor(MAX_READ / (text.length + 1)));
  const hasBar = mode === "bar" || text.includes("|");
  for (let index = 0; index <= text.length && left > 0; index++) {
    for (const correction of correctionsAt(mode, text, index, hasBar)) {
      left--;
      yield correction;
    }
  }
  const last = text.lastIndexOf(")");
  if (last >= 0) yield { mark: "(", edited: without(text, last) };
  const start = text.search(/\S/);
  if (start >= 0 && !text.startsWith("(", start)) yield { mark: "(", edited: inserted(text, start, "(") };
}

function* correctionsAt(mode: Mode, text: string, index: number, hasBar: boolean): Generator<Correction> {
  const char = text.charAt(index);
  if (char === '"' || char === "|") yield { mark: char, edited: without(text, index) };
  if (isBoundary(text, index)) {
    yield { mark: '"', edited: inserted(text, index, '"') };
    if (hasBar) yield { mark: "|", edited: inserted(text, index, "|") };
  }
  if (char !== "#") return;
  // one of the delimiters of a block comment without its bar
  if (/^\s*$/.test(text.slice(Math.max(0, index - 1), index)))
    yield { mark: "|", edited: inserted(text, index + 1, "|") };
  if (mode === "comment") yield { mark: "|", edited: inserted(text, index, "|") };
}

function inserted(text: string, index: number, char: string): string {
  return text.slice(0, index) + char + text.slice(index);
}

function without(text: string, index: number): string {
  return text.slice(0, index) + text.slice(index + 1);
}

/** Whether a string may begin or end at the index. */
function isBoundary(text: string, index: number): boolean {
  const isAfterBlank = index === 0 || /[\s(]/.test(text.charAt(index - 1));
  const isBeforeBlank = index === text.length || /[\s)]/.test(text.charAt(index));
  return isAfterBlank !== isBeforeBlank || (isAfterBlank && text.charAt(index) === ")");
}

function read(path: Path, text: string): Path {
  const reader = new LineReader(path, text);
  reader.read();
  return reader.path();
}

class LineReader {
  readonly #text: string;
  readonly #path: Path;
  #mode: Mode;
  #comments: number;
  #lists: List | undefined;
  #cost: number;
  #pos = 0;
  /** The column of `#pos` minus `#pos`. */
  #tabs = 0;
  /** Consecutive words. */
  #words = 0;

  constructor(path: Path, text: string) {
    this.#path = path;
    this.#text = text;
    this.#mode = path.mode;
    this.#comments = path.comments;
    this.#lists = path.lists;
    this.#cost = path.cost;
  }

  path(): Path {
    return {
      mode: this.#mode,
      comments: this.#comments,
      lists: this.#lists,
      cost: this.#cost,
      edit: this.#path.edit,
    };
  }

  read(): void {
    this.#judgeStart();
    while (this.#pos < this.#text.length) {
      switch (this.#mode) {
        case "code":
          this.#readCode();
          break;
        case "string":
          this.#readTo(Char.quotes);
          break;
        case "bar":
          this.#readTo(Char.bar);
          break;
        case "comment":
          this.#readComment();
      }
    }
  }

  #judgeStart(): void {
    const text = this.#text;
    let column = 0;
    let index = 0;
    for (; index < text.length; index++) {
      const char = text.charAt(index);
      if (char === "\t") column += 8 - (column % 8);
      else if (char === " ") column++;
      else break;
    }
    this.#tabs = column - index;
    if (index === text.length) return;
    const char = text.charAt(index);
    if (this.#mode === "code") this.#judgeCode(column, char);
    else if (this.#mode === "string") this.#judgeString(column, char);
    else if (this.#mode === "bar") this.#cost += Cost.lineInBar;
    else this.#cost += column === 0 && char === "(" ? Cost.definitionInComment : Cost.textInComment;
  }

  #judgeCode(column: number, char: string): void {
    if (char === ";" || char === ")" || char === "#") return;
    if (this.#lists === undefined) {
      if (column > 0) this.#cost += Cost.indentedTopLevel;
      else if (/[a-z"]/i.test(char)) this.#cost += Cost.textAtTopLevel;
    } else if (column <= this.#lists.column) {
      this.#cost += column === 0 && char === "(" ? Cost.definitionInList : Cost.outdented;
    }
  }

  #judgeString(column: number, char: string): void {
    if (char === "(" && column === 0)
      this.#cost += /^\((?:def|in-package|declaim)/.test(this.#text) ? Cost.definitionInString : Cost.formInString;
    else if (char === "(" || char === ";") this.#cost += Cost.indentedFormInString;
    else this.#cost += Cost.textInString;
    if (/\)\)\s*$/.test(this.#text) && !this.#text.includes('"')) this.#cost += Cost.closingInString;
  }

  /** Reads the rest of a string or of a symbol in bars. */
  #readTo(delimiter: number): void {
    const text = this.#text;
    const end = skipDelimited(text, this.#pos - 1, delimiter);
    this.#pos = end < 0 ? text.length : end;
    if (end < 0) return;
    this.#mode = "code";
    if (!/^[\s);:]?$/.test(text.charAt(end))) this.#cost += Cost.oddEnd;
    if (end > 1 && /[\s(]/.test(text.charAt(end - 2))) this.#cost += Cost.blankInside;
  }

  #readComment(): void {
    const end = skipBlockComment(this.#text, this.#pos, this.#comments);
    this.#pos = end < 0 ? this.#text.length : end;
    this.#comments = Math.max(0, -end);
    if (this.#comments === 0) this.#mode = "code";
  }

  #readCode(): void {
    const char = this.#text.charAt(this.#pos);
    if (classAt(this.#text, this.#pos) === CharClass.whitespace) {
      this.#pos++;
      return;
    }
    switch (char) {
      case "(":
        this.#open();
        return;
      case ")":
        this.#words = 0;
        if (this.#lists === undefined) this.#cost += Cost.surplusClose;
        this.#lists = this.#lists?.outer;
        this.#pos++;
        return;
      case ";":
        this.#pos = this.#text.length;
        return;
      case '"':
        this.#begin("string");
        return;
      case "|":
        this.#begin("bar");
        return;
      case "#":
        this.#dispatch();
        return;
      case ",":
      case "'":
      case "`":
        this.#prefix(char);
        return;
      default:
        this.#token();
    }
  }

  #open(): void {
    const column = this.#pos + this.#tabs;
    const outer = this.#lists;
    this.#lists = {
      column,
      outer,
      depth: (outer?.depth ?? 0) + 1,
      hash: (Math.imul(outer?.hash ?? 7, 31) + column) | 0,
    };
    this.#words = 0;
    this.#pos++;
  }

  #begin(mode: "string" | "bar"): void {
    this.#words = 0;
    const before = this.#pos === 0 ? " " : this.#text.charAt(this.#pos - 1);
    if (!/[\s('`,@#:]/.test(before) && !/#\d*[pPaA]$/.test(this.#text.slice(Math.max(0, this.#pos - 4), this.#pos)))
      this.#cost += Cost.oddStart;
    if (/^[\s)]?$/.test(this.#text.charAt(this.#pos + 1))) this.#cost += Cost.blankInside;
    this.#mode = mode;
    this.#pos++;
  }

  #dispatch(): void {
    const next = this.#text.charAt(this.#pos + 1);
    if (next === "|") {
      this.#mode = "comment";
      this.#comments = 1;
      this.#pos += 2;
    } else if (next === "\\") {
      this.#pos += 3;
      this.#skipConstituents();
    } else {
      this.#pos++;
    }
  }

  #prefix(char: string): void {
    const before = this.#pos === 0 ? " " : this.#text.charAt(this.#pos - 1);
    if (/[\w.]/.test(before)) this.#cost += Cost.prose;
    else if (char === "," && /^\s?$/.test(this.#text.charAt(this.#pos + 1))) this.#cost += Cost.prose;
    this.#pos++;
  }

  #skipConstituents(): void {
    this.#pos = skipConstituents(this.#text, this.#pos);
    for (; codeAt(this.#text, this.#pos) === Char.backslash; this.#pos = skipConstituents(this.#text, this.#pos))
      this.#pos += 2;
  }

  #token(): void {
    const start = this.#pos;
    this.#skipConstituents();
    const token = this.#text.slice(start, this.#pos);
    if (/^[a-z]+$/i.test(token)) {
      this.#words++;
      if (this.#words > 3) this.#cost += Cost.word;
      if (/^[A-Z][a-z]+$/.test(token)) this.#cost += Cost.capital;
    } else if (/^[a-z][\w-]*[.:!]$|^~/i.test(token)) {
      this.#cost += Cost.prose;
    } else {
      this.#words = 0;
    }
  }
}
