import type { Position } from "../text/position.js";

/** A top-level form of a source text; prefixes such as `'` and `#+sbcl` belong to it. The position is its beginning. */
export interface FormSpan extends Position {
  /** Offset after its last char. */
  readonly end: number;
}

interface Scanned {
  /** The top-level forms that are complete; with a problem, those before it. */
  readonly forms: readonly FormSpan[];
}

/** Every parenthesis, string, symbol and comment is closed. */
export interface Balanced extends Scanned {
  readonly kind: "balanced";
}

/** The text ends inside a list. */
export interface UnclosedList extends Scanned {
  readonly kind: "unclosed-list";
  /** How many closing parentheses are missing. */
  readonly missing: number;
  /** The innermost parenthesis that is not closed. */
  readonly innermost: Position;
  /** The outermost one, where the unfinished top-level form begins. */
  readonly outermost: Position;
  /**
   * The first parenthesis in column 1 after `outermost`, if any: by the usual layout a new top-level form begins there,
   * so that the missing parenthesis belongs before it.
   */
  readonly nextForm: Position | undefined;
}

/** A closing parenthesis without a partner; the scan stops there. */
export interface ExtraClose extends Scanned {
  readonly kind: "extra-close";
  readonly position: Position;
}

/** The text ends inside a string, a symbol (`|...|`, or after a backslash) or a block comment. */
export interface Unterminated extends Scanned {
  readonly kind: "unterminated";
  readonly what: "string" | "symbol" | "comment";
  /** Where it begins; of nested comments the outermost. */
  readonly start: Position;
  /** How many lists are open there. */
  readonly depth: number;
}

/** The text ends after a prefix such as `'` or `#+sbcl`, without the form it belongs to. */
export interface MissingForm extends Scanned {
  readonly kind: "missing-form";
  /** Where the prefix begins. */
  readonly start: Position;
}

/** What `scan` finds out about a source text. */
export type ScanResult = Balanced | UnclosedList | ExtraClose | Unterminated | MissingForm;
