import { excerpt, type Position, positionAt } from "./position.js";

/** Reasons why a text cannot be read. */
export const READ_ERRORS = {
  EMPTY: {
    meaning: "The text contains no datum, only whitespace or comments.",
    remedy: "Pass one datum, or use readAll, which returns an empty array.",
  },
  TRAILING_DATUM: {
    meaning: "The datum is followed by more than whitespace and comments.",
    remedy: "Use readAll to read several data.",
  },
  UNCLOSED_LIST: {
    meaning: "The text ends inside a list or vector; the position is the innermost open parenthesis.",
    remedy: "Add the missing closing parenthesis, or wait for the rest of the text.",
  },
  UNEXPECTED_CLOSE: {
    meaning: "A closing parenthesis matches no opening one.",
    remedy: "Remove it, or add the opening one.",
  },
  UNCLOSED_STRING: {
    meaning: "The text ends inside a string; the position is its opening quote.",
    remedy: 'Close the string. Write \\" for a quote inside it.',
  },
  UNCLOSED_SYMBOL: {
    meaning: "The text ends inside |...| or right after a backslash; the position is the start of the symbol.",
    remedy: "Close the vertical bar, or add the escaped character.",
  },
  UNCLOSED_COMMENT: {
    meaning: "The text ends inside #| |#; the position is the outermost comment.",
    remedy: "Close the comment; these comments nest.",
  },
  UNCLOSED_UNREADABLE: {
    meaning: "The text ends inside #<...>; the position is the #.",
    remedy: "Close it with >.",
  },
  MISSING_DATUM: {
    meaning: "A prefix such as ' or #. has no datum after it.",
    remedy: "Add the datum, or remove the prefix.",
  },
  MISPLACED_DOT: {
    meaning: "A dot is not directly before the last element of a list, or a token consists only of dots.",
    remedy: "Write exactly one datum after the dot, as in (a . b). Write \\. for a symbol with that name.",
  },
  INVALID_SYMBOL: {
    meaning: "A token has misplaced colons, no name after its colons, or an empty package name.",
    remedy: "Write name, package:name, package::name, :name or #:name. Put other colons inside |...|.",
  },
  INVALID_NUMBER: {
    meaning: "A number has digits outside its radix, a radix outside 2 to 36, or a zero denominator.",
    remedy: "Correct the number.",
  },
  INVALID_LITERAL: {
    meaning: "The datum after a # syntax does not fit it, as in #C(1) or #S(42).",
    remedy: "Correct the literal.",
  },
  UNKNOWN_DISPATCH: {
    meaning: "The standard syntax does not define this character after #.",
    remedy:
      "Let a Lisp with the right readtable read the text, or use readWithPositions, which keeps the syntax opaque.",
  },
  NESTED_TOO_DEEP: {
    meaning: "The data are nested deeper than maxDepth.",
    remedy: "Raise maxDepth if you trust the text.",
  },
  TOO_MANY_SYMBOLS: {
    meaning: "The text contains more new symbols than maxNewSymbols.",
    remedy: "Raise maxNewSymbols if you trust the text.",
  },
  NUMBER_TOO_LONG: {
    meaning: "An integer or ratio has more characters than maxNumberLength.",
    remedy:
      "Raise maxNumberLength if you trust the text. The time to read a number grows with the square of its length.",
  },
  FEATURE_EXPRESSION: {
    meaning: "#+ or #- depends on the features of a Lisp, which read does not know.",
    remedy: "Use readWithPositions with the features of the Lisp.",
  },
} as const;

/** Reasons why a value cannot be printed. */
export const PRINT_ERRORS = {
  UNPRINTABLE: {
    meaning:
      "The value is not Lisp data: undefined, null, a boolean, a function, an unsafe or fractional number, a float or bit vector with invalid text, or a datum that contains itself.",
    remedy:
      "Use NIL and T for truth values, bigint for integers beyond 2^53, float() for fractions, and the constructors for the rest.",
  },
} as const;

/** Reasons why a datum cannot be decoded. */
export const DECODE_ERRORS = {
  SHAPE: {
    meaning: "The datum does not have the shape that the decoder expects.",
    remedy: "Compare path, expected and found. The peer may have another version.",
  },
  TOO_DEEP: {
    meaning: "The data are nested deeper than the limit of a recursive decoder.",
    remedy: "Raise maxDepth in recursive(), or use fold, which has no limit.",
  },
} as const;

/** Every error code of this package with its meaning and remedy. */
export const ERRORS = { ...READ_ERRORS, ...PRINT_ERRORS, ...DECODE_ERRORS } as const;

/** Codes of `SexpError`. */
export type ReadErrorCode = keyof typeof READ_ERRORS;
/** Codes of `DecodeError`. */
export type DecodeErrorCode = keyof typeof DECODE_ERRORS;

/** A text that cannot be read, with the position of the error in the whole text. */
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

/** A value that is not Lisp data and therefore cannot be printed. */
export class PrintError extends Error {
  override readonly name = "PrintError";
  readonly code = "UNPRINTABLE";

  constructor(what: string) {
    super(`${what} cannot be printed as Lisp data (UNPRINTABLE)`);
  }
}

/** Formats a read error for people: the message, the source line, and a caret under the position. */
export function explain(error: SexpError, text: string): string {
  return `${error.message}\n${excerpt(text, error)}`;
}
