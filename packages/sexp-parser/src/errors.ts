import type { Position } from "./text/position.js";
import { excerpt, positionAt } from "./text/position.js";

/** Why a text is not one or more Lisp data. */
export const READ_ERRORS = {
  EMPTY: {
    meaning: "The text holds no datum, only whitespace or comments.",
    remedy: "Give one datum, or use readAll, which gives an empty array.",
  },
  TRAILING_DATUM: {
    meaning: "Something other than whitespace and comments follows the datum.",
    remedy: "Use readAll if more than one datum is meant.",
  },
  UNCLOSED_LIST: {
    meaning: "The text ends inside a list or vector; the position is that of the innermost open parenthesis.",
    remedy: "Add the missing closing parenthesis, or wait for the rest of the text.",
  },
  UNEXPECTED_CLOSE: {
    meaning: "A closing parenthesis has no partner.",
    remedy: "Remove it, or add the opening one.",
  },
  UNCLOSED_STRING: {
    meaning: "The text ends inside a string; the position is that of its opening quote.",
    remedy: 'Close the string, and write \\" for a quote inside it.',
  },
  UNCLOSED_SYMBOL: {
    meaning: "The text ends inside |...| or right after a backslash; the position is that of the symbol.",
    remedy: "Close the vertical bar, or give the escaped character.",
  },
  UNCLOSED_COMMENT: {
    meaning: "The text ends inside #| |#; the position is that of the outermost one.",
    remedy: "Close the comment; these comments nest.",
  },
  UNCLOSED_UNREADABLE: {
    meaning: "The text ends inside #<...>; the position is that of the #.",
    remedy: "Close it with >.",
  },
  MISSING_DATUM: {
    meaning: "A prefix such as ' or #. is not followed by the datum it applies to.",
    remedy: "Add the datum, or remove the prefix.",
  },
  MISPLACED_DOT: {
    meaning: "A dot that is not between the last two elements of a list, or a token made only of dots.",
    remedy: "Write (a . b) with exactly one datum after the dot; write \\. for a symbol of that name.",
  },
  INVALID_SYMBOL: {
    meaning: "A token has misplaced package markers, or no name after one, or an empty package name.",
    remedy: "Write name, package:name, package::name, :name or #:name; put other colons inside |...|.",
  },
  INVALID_NUMBER: {
    meaning: "Digits that do not belong to the radix, a radix outside 2 to 36, or a zero denominator.",
    remedy: "Correct the number.",
  },
  INVALID_LITERAL: {
    meaning: "A # syntax is followed by something it does not allow, as in #C(1) or #S(42).",
    remedy: "Correct the literal.",
  },
  UNKNOWN_DISPATCH: {
    meaning: "The character after # has no meaning in the standard syntax.",
    remedy: "Only a Lisp with the right readtable can read this text.",
  },
  NESTED_TOO_DEEP: {
    meaning: "The data are nested deeper than the limit that was given.",
    remedy: "Raise maxDepth if the text can be trusted.",
  },
  TOO_MANY_SYMBOLS: {
    meaning: "The text holds more symbols that were not known before than the limit that was given.",
    remedy: "Raise maxNewSymbols if the text can be trusted.",
  },
  FEATURE_EXPRESSION: {
    meaning: "#+ or #- asks for the features of a Lisp, which are not known here.",
    remedy: "Remove the conditional, or let a Lisp read the text.",
  },
} as const;

/** Why a datum cannot be printed. */
export const PRINT_ERRORS = {
  UNPRINTABLE: {
    meaning:
      "The value is not Lisp data: undefined, null, a boolean, a function, an unsafe or fractional number, a float or bit vector with invalid text, a list that contains itself.",
    remedy:
      "Use NIL and T for truth values, bigint for integers beyond 2^53, float() for fractions, and the constructors for the rest.",
  },
} as const;

/** Why a datum does not have the wanted shape. */
export const DECODE_ERRORS = {
  SHAPE: {
    meaning: "The datum does not have the shape that the decoder describes.",
    remedy: "Compare path, expected and found; the peer may be of another version.",
  },
  TOO_DEEP: {
    meaning: "A recursive decoder met data nested deeper than its limit.",
    remedy: "Raise the maxDepth of recursive(), or use fold, which has no limit.",
  },
} as const;

/** Every error code of this package with its meaning and what to do about it. */
export const ERRORS = { ...READ_ERRORS, ...PRINT_ERRORS, ...DECODE_ERRORS } as const;

/** Codes of `SexpError`. */
export type ReadErrorCode = keyof typeof READ_ERRORS;
/** Codes of `DecodeError`. */
export type DecodeErrorCode = keyof typeof DECODE_ERRORS;

/** A text that cannot be read; says where. */
export class SexpError extends Error implements Position {
  override readonly name = "SexpError";
  readonly code: ReadErrorCode;
  readonly offset: number;
  readonly line: number;
  readonly column: number;

  constructor(code: ReadErrorCode, text: string, offset: number) {
    const { line, column } = positionAt(text, offset);
    super(`${READ_ERRORS[code].meaning} (${code} at line ${line}, column ${column})`);
    this.code = code;
    this.offset = offset;
    this.line = line;
    this.column = column;
  }
}

/** A value that is not Lisp data and so has no text. */
export class PrintError extends Error {
  override readonly name = "PrintError";
  readonly code = "UNPRINTABLE";

  constructor(what: string) {
    super(`${what} cannot be printed as Lisp data (UNPRINTABLE)`);
  }
}

/** A read error as a message for people: what, where, the source line, and a caret under the place. */
export function explain(error: SexpError, text: string): string {
  return `${error.message}\n${excerpt(text, error)}`;
}
