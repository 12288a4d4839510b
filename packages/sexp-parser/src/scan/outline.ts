import { LineCounter } from "../text/position.js";
import type { FormSpan } from "./result.js";
import type { Tracker } from "./tracker.js";

/** Tracks the open parentheses of a text, and the starts and ends of its top-level forms. */
export class Outline implements Tracker {
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
