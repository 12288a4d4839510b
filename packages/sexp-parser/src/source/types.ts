import type { Sexp } from "../types.js";

/** The extent of a node: `text.slice(start, end)`, in UTF-16 code units from 0. */
interface Span {
  readonly start: number;
  /** The offset after the last char. */
  readonly end: number;
}

/** Text between data: a run of whitespace, a `;` comment without its newline, or a `#| |#` comment. */
export interface SourceBlank extends Span {
  readonly kind: "whitespace" | "line-comment" | "block-comment";
  readonly text: string;
}

/** A datum without data in it: a symbol, number, string, character, bit vector or label reference. */
export interface SourceAtom extends Span {
  readonly kind: "atom";
  readonly text: string;
  readonly datum: Sexp;
}

/** The dot before the last datum of a dotted list. */
export interface SourceDot extends Span {
  readonly kind: "dot";
  readonly text: string;
}

interface Branch extends Span {
  /** The chars before the children, such as `(`, `#3(`, `'` or `#+`. */
  readonly open: string;
  /** Everything inside in the order of the text, without gaps. */
  readonly children: readonly SourceNode[];
  /** The chars after the children: `)` or nothing. */
  readonly close: string;
}

/** A list `(...)` or a vector `#(...)`. */
export interface SourceList extends Branch {
  readonly kind: "list";
  readonly datum: Sexp;
}

/**
 * A syntax that applies to the next datum, such as `'x`, `,@x`, `#'x`, `#S(...)`, `#.x` or `#1=x`.
 *
 * An unknown `#` syntax counts as such a prefix and has an opaque datum.
 */
export interface SourcePrefix extends Branch {
  readonly kind: "prefix";
  readonly datum: Sexp;
}

/** `#+feature form` or `#-feature form`. */
export interface SourceConditional extends Branch {
  readonly kind: "conditional";
  /** Whether Lisp reads the form; `undefined` when the given features do not decide it. */
  readonly isIncluded: boolean | undefined;
  /** The form's datum when it is included, nothing when it is excluded, the opaque text when that is undecided. */
  readonly datum: Sexp | undefined;
}

/** A node of a concrete syntax tree. */
export type SourceNode = SourceBlank | SourceAtom | SourceDot | SourceList | SourcePrefix | SourceConditional;

/** The concrete syntax tree of a whole text. */
export interface SourceTree extends Branch {
  readonly kind: "source";
  /** The top-level data that Lisp reads. */
  readonly data: readonly Sexp[];
}
