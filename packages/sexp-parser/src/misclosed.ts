import { Char, codeAt } from "./lexer.js";
import { LineCounter } from "./position.js";
import { scan, type Tracker, track } from "./scan.js";

/** A line that, by the indentation of the next one, has the wrong number of closing parentheses. */
export interface MisclosedLine {
  /** Line number from 1. */
  readonly line: number;
  /** The number of parentheses that it lacks, or has too many. */
  readonly count: number;
}

/**
 * The lines where the parentheses that unbalanced source text lacks probably belong, or those with the parentheses that are too many.
 *
 * A line inside a list is indented deeper than the parenthesis that opens the list. The result is empty for balanced text, and where the
 * indentation does not explain the error.
 */
export function misclosedLines(source: string): readonly MisclosedLine[] {
  switch (scan(source).kind) {
    case "unclosed-list":
      return judged(source, "lists") ?? judged(source, "top-level") ?? [];
    case "extra-close":
      return judged(source, "closed") ?? [];
    default:
      return [];
  }
}

/**
 * The lists that a line's indentation is compared with: `lists`, those that are open and should not be; `top-level`, the same, for lines that
 * begin with a parenthesis in column 1; `closed`, those that the line before has closed and should not have.
 */
type Evidence = "lists" | "top-level" | "closed";

function judged(source: string, evidence: Evidence): readonly MisclosedLine[] | undefined {
  const tracker = new IndentationTracker(source, evidence);
  track(source, tracker);
  return tracker.result();
}

/** Corrects the parentheses of each line by the indentation of the next one. */
class IndentationTracker implements Tracker {
  readonly forms = [];
  readonly open = [];
  readonly start = -1;
  readonly #text: string;
  readonly #evidence: Evidence;
  readonly #columns: ColumnCounter;
  /** Columns of the open parentheses, outermost first. */
  readonly #lists: number[] = [];
  /** Columns of the lists that the last parentheses have closed, innermost first. */
  #closed: number[] = [];
  /** The line of the last datum or parenthesis. */
  #line = 1;
  #unmatched = 0;
  readonly #found: MisclosedLine[] = [];

  constructor(text: string, evidence: Evidence) {
    this.#text = text;
    this.#evidence = evidence;
    this.#columns = new ColumnCounter(text);
  }

  /** The lines with an error. `undefined` if correcting them does not balance the text. */
  result(): readonly MisclosedLine[] | undefined {
    if (this.#unmatched > 0) return undefined;
    if (this.#evidence === "closed") return this.#lists.length > 0 ? undefined : this.#found;
    this.#note(this.#lists.length);
    return this.#found;
  }

  begin(offset: number): void {
    if (this.#isEvidence(offset)) this.#judge(this.#columns.at(offset).column);
    this.#closed = [];
  }

  extend(): void {}

  push(offset: number): void {
    this.begin(offset);
    const { line, column } = this.#columns.at(offset);
    this.#lists.push(column);
    this.#line = line;
  }

  pop(end: number): boolean {
    this.end(end);
    const list = this.#lists.pop();
    if (list === undefined) this.#unmatched++;
    else this.#closed.push(list);
    return true;
  }

  end(end: number): void {
    this.#line = this.#columns.at(end - 1).line;
  }

  /** Whether the indentation of the datum at `offset` counts: it begins a line. Many begin lines with `#+`, or with atoms, in column 1. */
  #isEvidence(offset: number): boolean {
    const isConditional = codeAt(this.#text, offset) === Char.sharp && /[+-]/.test(this.#text.charAt(offset + 1));
    const isUnindented = beginsLine(this.#text, offset);
    if (isUnindented) return codeAt(this.#text, offset) === Char.open;
    return (
      !isConditional && this.#evidence !== "top-level" && beginsLine(this.#text, skipBlanksBefore(this.#text, offset))
    );
  }

  #judge(column: number): void {
    if (this.#evidence === "closed") this.#reopen(column);
    else this.#close(column);
  }

  #close(column: number): void {
    const inner = this.#lists.findLastIndex((list) => list < column) + 1;
    this.#note(this.#lists.splice(inner).length);
  }

  #reopen(column: number): void {
    // Forms after a definition are indented deeper by accident more often than those in it by one column only.
    if (this.#lists.length === 0 && column - 1 === this.#closed.at(-1)) return;
    const outer = this.#closed.findIndex((list) => list < column);
    if (outer < 0) return;
    const lists = this.#closed.slice(outer).reverse();
    this.#note(lists.length);
    this.#lists.push(...lists);
  }

  #note(count: number): void {
    if (count > 0) this.#found.push({ line: this.#line, count });
  }
}

function beginsLine(text: string, offset: number): boolean {
  return offset === 0 || codeAt(text, offset - 1) === Char.newline;
}

function skipBlanksBefore(text: string, offset: number): number {
  let start = offset;
  while (start > 0 && /[ \t]/.test(text.charAt(start - 1))) start--;
  return start;
}

/** Width of a tab, as in Emacs. */
const TAB = 8;

/** Converts ascending offsets to lines and columns, in which tabs at the beginning of a line have their width. */
class ColumnCounter {
  readonly #text: string;
  readonly #counter: LineCounter;
  #line = 0;
  /** The columns that the tabs of the line add. */
  #added = 0;

  constructor(text: string) {
    this.#text = text;
    this.#counter = new LineCounter(text);
  }

  at(offset: number): { readonly line: number; readonly column: number } {
    const { line, column } = this.#counter.at(offset);
    if (line !== this.#line) {
      this.#line = line;
      this.#added = addedByTabs(this.#text, offset - column + 1);
    }
    return { line, column: column + this.#added };
  }
}

function addedByTabs(text: string, lineStart: number): number {
  let width = 0;
  let index = lineStart;
  for (; /[ \t]/.test(text.charAt(index)); index++) width += codeAt(text, index) === 0x09 ? TAB - (width % TAB) : 1;
  return width - (index - lineStart);
}
