/** A place in a text. */
export interface Position {
  /** Index into the string, in UTF-16 code units, from 0. */
  readonly offset: number;
  /** Line number from 1; only `\n` ends a line. */
  readonly line: number;
  /** Column from 1, in UTF-16 code units. */
  readonly column: number;
}

/** The line and column of an offset; an offset beyond the end counts as the end. Takes time linear in the offset. */
export function positionAt(text: string, offset: number): Position {
  return new LineCounter(text).at(Math.min(offset, text.length));
}

/** Converts ascending offsets to positions in a single pass over the text. */
export class LineCounter {
  readonly #text: string;
  #line = 1;
  #lineStart = 0;
  #newline: number;

  constructor(text: string) {
    this.#text = text;
    this.#newline = this.#nextNewline();
  }

  /** The position of `offset`, which must not be smaller than in the previous call. */
  at(offset: number): Position {
    while (this.#newline < offset) {
      this.#line++;
      this.#lineStart = this.#newline + 1;
      this.#newline = this.#nextNewline();
    }
    return { offset, line: this.#line, column: offset - this.#lineStart + 1 };
  }

  #nextNewline(): number {
    const found = this.#text.indexOf("\n", this.#lineStart);
    return found < 0 ? this.#text.length : found;
  }
}

const EXCERPT_WIDTH = 80;

/**
 * The source line at a position with a caret under the column, two lines joined by `\n`.
 *
 * A long line is cut to 80 characters around the caret. Both lines keep tabs.
 */
export function excerpt(text: string, position: Position): string {
  const lineStart = position.offset - (position.column - 1);
  const newline = text.indexOf("\n", position.offset);
  const lineEnd = newline < 0 ? text.length : newline;
  const from = Math.max(lineStart, Math.min(position.offset - EXCERPT_WIDTH / 2, lineEnd - EXCERPT_WIDTH));
  const line = text.slice(from, Math.min(lineEnd, from + EXCERPT_WIDTH)).trimEnd();
  const margin = text.slice(from, position.offset).replace(/[^\t]/g, " ");
  return `${line}\n${margin}^`;
}
