import type { Position } from "../text/position.js";

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
