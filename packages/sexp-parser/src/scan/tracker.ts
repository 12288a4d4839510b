import type { FormSpan } from "./result.js";

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
