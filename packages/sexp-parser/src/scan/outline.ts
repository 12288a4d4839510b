import { LineCounter } from "../text/position.js";
import type { FormSpan } from "./result.js";

/** Tracks the open parentheses of a text, and the starts and ends of its top-level forms. */
export class Outline {
  readonly #lines: LineCounter;
  readonly #forms: FormSpan[] = [];
  readonly #open: number[] = [];
  #start = -1;
  #needed = 0;

  constructor(text: string) {
    this.#lines = new LineCounter(text);
  }

  /** The complete top-level forms. */
  get forms(): readonly FormSpan[] {
    return this.#forms;
  }

  /** Offsets of the open parentheses, outermost first. */
  get open(): readonly number[] {
    return this.#open;
  }

  /** The start of the open top-level form; -1 between forms. */
  get start(): number {
    return this.#start;
  }

  /** A datum or prefix begins. */
  begin(offset: number): void {
    if (this.#start >= 0) return;
    this.#start = offset;
    this.#needed = 1;
  }

  /** Lets the open form need one more datum, as after `#+`. Matters at top level only. */
  extend(): void {
    if (this.#open.length === 0) this.#needed++;
  }

  /** A list begins. */
  push(offset: number): void {
    this.begin(offset);
    this.#open.push(offset);
  }

  /** A list ends before `end`; false when no list is open. */
  pop(end: number): boolean {
    if (this.#open.pop() === undefined) return false;
    this.end(end);
    return true;
  }

  /** A datum ends before `end`. */
  end(end: number): void {
    if (this.#open.length > 0 || --this.#needed > 0) return;
    this.#forms.push({ ...this.#lines.at(this.#start), end });
    this.#start = -1;
  }
}
