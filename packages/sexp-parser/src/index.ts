/**
 * Reads, prints, decodes and scans S-expressions.
 *
 * @module sexp-parser
 */

export { float, keyword, list, quote, symbol, vector } from "./build.js";
export {
  type Atom,
  type Compound,
  dotted,
  equals,
  type Folder,
  FUNCTION,
  fold,
  intern,
  isDotted,
  isList,
  isNil,
  isSymbol,
  NIL,
  parts,
  QUOTE,
  T,
} from "./data.js";
export {
  type Decoded,
  type DecodedFields,
  type DecodedItems,
  DecodeError,
  type Decoder,
  type DefaultField,
  type Field,
  type FieldsDecoder,
  type KeyedField,
  type OptionalField,
  type TaggedDecoder,
} from "./decode/core.js";
export * as decode from "./decode/decoders.js";
export { type DecodeErrorCode, ERRORS, explain, PrintError, type ReadErrorCode, SexpError } from "./errors.js";
export { type MisclosedLine, misclosedLines } from "./misclosed.js";
export { type MisquotedLine, misquotedLine } from "./misquoted.js";
export { excerpt, type Position, positionAt } from "./position.js";
export { preview, print } from "./print.js";
export { read, readAll } from "./read.js";
export {
  type Balanced,
  bareCode,
  type ExtraClose,
  type FormSpan,
  type MissingForm,
  type ScanResult,
  scan,
  type UnclosedList,
  type Unterminated,
} from "./scan.js";
export {
  elements,
  printSource,
  readWithPositions,
  type SourceAtom,
  type SourceBlank,
  type SourceConditional,
  type SourceDatum,
  type SourceDot,
  type SourceList,
  type SourceNode,
  type SourceOptions,
  type SourcePrefix,
  type SourceTree,
} from "./source.js";
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
