/**
 * Reads, prints, decodes and scans S-expressions.
 *
 * @module sexp-parser
 */

export { float, keyword, list, quote, symbol, vector } from "./build.js";
export type { Decoded, DecodedFields, DecodedItems, Decoder, Field, OptionalField } from "./decode/decoder.js";
export { DecodeError } from "./decode/error.js";
export * as decode from "./decode/index.js";
export { equals } from "./equals.js";
export type { DecodeErrorCode, ReadErrorCode } from "./errors.js";
export { ERRORS, explain, PrintError, SexpError } from "./errors.js";
export type { Folder } from "./fold.js";
export { fold } from "./fold.js";
export { type Piece, preview, print, printPieces } from "./print/printer.js";
export { read, readAll } from "./read/reader.js";
export { type MisclosedLine, misclosedLines } from "./scan/misclosed.js";
export { type MisquotedLine, misquotedLine } from "./scan/misquoted.js";
export type {
  Balanced,
  ExtraClose,
  FormSpan,
  MissingForm,
  ScanResult,
  UnclosedList,
  Unterminated,
} from "./scan/result.js";
export { scan } from "./scan/scanner.js";
export type { SourceDatum } from "./source/elements.js";
export { elements } from "./source/elements.js";
export { printSource } from "./source/print.js";
export type { SourceOptions } from "./source/read-with-positions.js";
export { readWithPositions } from "./source/read-with-positions.js";
export type {
  SourceAtom,
  SourceBlank,
  SourceConditional,
  SourceDot,
  SourceList,
  SourceNode,
  SourcePrefix,
  SourceTree,
} from "./source/types.js";
export { dotted, isDotted, isList, isNil, isSymbol } from "./syntax/kinds.js";
export type { Atom, Compound } from "./syntax/parts.js";
export { parts } from "./syntax/parts.js";
export { FUNCTION, intern, NIL, QUOTE, T } from "./syntax/symbols.js";
export type { Position } from "./text/position.js";
export { excerpt, positionAt } from "./text/position.js";
export type {
  ArrayLiteral,
  BitVector,
  Character,
  Complex,
  DottedList,
  LispFloat,
  LispSymbol,
  Opaque,
  Pathname,
  Quasi,
  Ratio,
  Sexp,
  Structure,
  Vector,
} from "./types.js";
