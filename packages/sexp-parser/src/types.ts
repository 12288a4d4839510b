/**
 * A Lisp symbol as written.
 *
 * Symbols are interned: two reads of the same text give the same object, so `===` compares them.
 * `name` is the name after the standard reader's upcasing (`foo` has the name `FOO`, `|foo|` the name `foo`).
 */
export interface LispSymbol {
  readonly kind: "symbol";
  readonly name: string;
  /** Package as written, upcased; `"KEYWORD"` for keywords, `""` for uninterned (`#:x`), `undefined` when unqualified. */
  readonly package: string | undefined;
  /** Whether it was written with `::`. */
  readonly internal: boolean;
}

/** A float as written: `text` keeps digits and exponent marker exactly, `value` is the nearest double. */
export interface LispFloat {
  readonly kind: "float";
  readonly value: number;
  readonly text: string;
}

/** A ratio in lowest terms, such as `1/2`. The denominator is positive. */
export interface Ratio {
  readonly kind: "ratio";
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** `#C(real imaginary)`. */
export interface Complex {
  readonly kind: "complex";
  readonly real: Sexp;
  readonly imaginary: Sexp;
}

/** A character; `value` is one code point as a string. */
export interface Character {
  readonly kind: "character";
  readonly value: string;
}

/** A list whose last cdr is not NIL: `(a b . c)` has the items `a`, `b` and the tail `c`. */
export interface DottedList {
  readonly kind: "dotted";
  readonly items: readonly [Sexp, ...Sexp[]];
  readonly tail: Sexp;
}

/** `#(...)`. */
export interface Vector {
  readonly kind: "vector";
  readonly items: readonly Sexp[];
}

/** `#nA contents`, an array of rank `n`. */
export interface ArrayLiteral {
  readonly kind: "array";
  readonly rank: number;
  readonly contents: Sexp;
}

/** `#*0101`; `bits` holds only `0` and `1`. */
export interface BitVector {
  readonly kind: "bit-vector";
  readonly bits: string;
}

/** `#P"..."`. */
export interface Pathname {
  readonly kind: "pathname";
  readonly namestring: string;
}

/** `#S(name :slot value ...)`. */
export interface Structure {
  readonly kind: "structure";
  readonly name: LispSymbol;
  readonly slots: readonly Sexp[];
}

/** Backquote syntax, which has no portable list form. */
export interface Quasi {
  readonly kind: "backquote" | "unquote" | "splice" | "nsplice";
  readonly datum: Sexp;
}

/**
 * Text that only a Lisp can read, kept as written and never evaluated.
 *
 * This is `#<...>`, `#.form`, a label with its datum (`#1=(a #1#)`), a label reference (`#1#`), or a character with a
 * name that is not standard (`#\LATIN_SMALL_LETTER_E_WITH_ACUTE`).
 */
export interface Opaque {
  readonly kind: "opaque";
  readonly text: string;
}

/**
 * Any Lisp datum.
 *
 * - string: a Lisp string
 * - number: an integer in JavaScript's safe range; bigint: any other integer
 * - array: a proper, non-empty list; an empty array prints as `nil`, and the reader returns `NIL` for `()` and `nil`
 * - `'x` is the list `(common-lisp:quote x)`, `#'x` the list `(common-lisp:function x)`; both print in the short form
 */
export type Sexp =
  | string
  | number
  | bigint
  | readonly Sexp[]
  | LispSymbol
  | LispFloat
  | Ratio
  | Complex
  | Character
  | DottedList
  | Vector
  | ArrayLiteral
  | BitVector
  | Pathname
  | Structure
  | Quasi
  | Opaque;
