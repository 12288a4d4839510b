import { MessageOutline } from "./message-outline.js";

const NEWLINE = 0x0a;

/** One line of the input, without its line feed. */
export type Line =
  | { readonly kind: "line"; readonly bytes: Buffer }
  /** A line above the maximum size, without its text. */
  | { readonly kind: "too-long"; readonly size: number; readonly outline: MessageOutline };

/** Splits a stream of bytes into lines. Each byte is copied at most once, even if a line has many chunks. */
export class LineSplitter {
  readonly #maxSize: number;
  #parts: Buffer[] = [];
  #size = 0;
  /** Set once the current line exceeds the maximum. */
  #outline: MessageOutline | undefined;

  /** @param maxSize - Maximum size of a line that keeps its text, in bytes. */
  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  /** Yields the lines that end in this chunk. */
  *push(chunk: Buffer): Generator<Line> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#add(chunk.subarray(start, end));
      yield this.#finish();
      start = end + 1;
    }
    if (start < chunk.length) this.#add(chunk.subarray(start));
  }

  /** Returns the last line if the stream ends without a line feed. */
  end(): Line | undefined {
    return this.#size === 0 ? undefined : this.#finish();
  }

  #add(part: Buffer): void {
    this.#size += part.length;
    if (this.#outline === undefined && this.#size > this.#maxSize) this.#dropText();
    if (this.#outline === undefined) this.#parts.push(part);
    else this.#outline.push(part);
  }

  #dropText(): void {
    this.#outline = new MessageOutline();
    for (const part of this.#parts) this.#outline.push(part);
    this.#parts = [];
  }

  #finish(): Line {
    const line: Line =
      this.#outline === undefined
        ? { kind: "line", bytes: this.#parts.length === 1 ? (this.#parts[0] ?? EMPTY) : Buffer.concat(this.#parts) }
        : { kind: "too-long", size: this.#size, outline: this.#outline };
    this.#parts = [];
    this.#size = 0;
    this.#outline = undefined;
    return line;
  }
}

const EMPTY = Buffer.alloc(0);
