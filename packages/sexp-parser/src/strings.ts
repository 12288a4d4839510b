import { Char, type Lexer, skipDelimited } from "./lexer.js";

// Changing a long text byte by byte is several times as fast as building it from slices.

/** The parts of the Encoding Standard used here: Node and browsers have them, TypeScript's standard library does not. */
declare const TextEncoder: new () => {
  encodeInto(text: string, bytes: Uint8Array): { readonly written: number };
};
declare const TextDecoder: new (
  label: string,
  options: { readonly ignoreBOM: boolean },
) => { decode(bytes: Uint8Array): string };

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The most chars of a chunk. V8 compiles a loop over larger ones while it runs, to code that is half as fast, and the function only after megabytes. */
const MAX_CHUNK = 16_384;
/** Room for the bytes of any chunk. */
const MAX_CHUNK_BYTES = 3 * MAX_CHUNK;

const LONE_SURROGATE = /\p{Surrogate}/u;

/** At most `size` chars from `start`, without the first half of a surrogate pair at the end. */
function chunkAt(text: string, start: number, size: number): string {
  const end = start + size;
  const isSplit = end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  return text.slice(start, isSplit ? end - 1 : end);
}

/** Writes the UTF-8 of a chunk into `bytes` and gives its length; -1 when a lone surrogate would be lost. */
function encodeChunk(chunk: string, bytes: Uint8Array): number {
  const { written } = encoder.encodeInto(chunk, bytes);
  const isAscii = written === chunk.length;
  return isAscii || !LONE_SURROGATE.test(chunk) ? written : -1;
}

/** The text of the first `length` bytes. */
function decodeBytes(bytes: Uint8Array, length: number): string {
  return decoder.decode(bytes.subarray(0, length));
}

/** From this length on, escaping bytes is faster than escaping a string. */
const LONG = 4096;

const plain = new Uint8Array(MAX_CHUNK_BYTES);
const escaped = new Uint8Array(2 * MAX_CHUNK_BYTES);

/** A Lisp string: only `"` and `\` are escaped, every other character stands for itself. */
export function printString(text: string): string {
  if (!text.includes('"') && !text.includes("\\")) return `"${text}"`;
  return `"${text.length < LONG ? escapeShort(text) : escapeLong(text)}"`;
}

function escapeShort(text: string): string {
  return text.replace(/["\\]/g, "\\$&");
}

function escapeLong(text: string): string {
  let result = "";
  for (const chunk of chunks(text)) {
    const count = encodeChunk(chunk, plain);
    result += count < 0 ? escapeShort(chunk) : decodeBytes(escaped, escapeBytes(escaped, plain, count));
  }
  return result;
}

/** Whether `stringPieces` is faster than `printString` and encoding its text. */
export function isLong(text: string): boolean {
  return text.length >= LONG;
}

/** The printed string in pieces: UTF-8, or text where UTF-8 would lose lone surrogates. */
export function stringPieces(text: string): (string | Uint8Array)[] {
  const pieces: (string | Uint8Array)[] = ['"'];
  for (const chunk of chunks(text)) {
    pieces.push(chunkPiece(chunk));
  }
  pieces.push('"');
  return pieces;
}

function chunkPiece(chunk: string): string | Uint8Array {
  const count = encodeChunk(chunk, plain);
  return count < 0 ? escapeShort(chunk) : escaped.slice(0, escapeBytes(escaped, plain, count));
}

function* chunks(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const chunk = chunkAt(text, start, MAX_CHUNK);
    yield chunk;
    start += chunk.length;
  }
}

/** 1 for the bytes that are escaped, 0 for all others. */
const NEEDS_ESCAPE = new Uint8Array(256);
NEEDS_ESCAPE[Char.quotes] = 1;
NEEDS_ESCAPE[Char.backslash] = 1;

/**
 * Copies `count` bytes from `source` to `target` with their escapes, and gives their number.
 *
 * Writes a backslash before every byte and keeps it where it is needed: a branch would be mispredicted at every escape. The arrays are
 * parameters, because V8's code for callers that inline this takes a third longer with variables of the module.
 */
function escapeBytes(target: Uint8Array, source: Uint8Array, count: number): number {
  let length = 0;
  for (let index = 0; index < count; index++) {
    const byte = source[index] ?? 0;
    target[length] = Char.backslash;
    length += NEEDS_ESCAPE[byte] ?? 0;
    target[length++] = byte;
  }
  return length;
}

/** A string with more escapes is read in chunks. */
const FEW_ESCAPES = 500;

/** Reads a string with escapes from `start`, whose first quote is at `firstQuote`; `undefined` if it does not end. */
export function readEscaped(lexer: Lexer, start: number, firstQuote: number): EscapedText | undefined {
  const { text } = lexer;
  let result = "";
  let from = start;
  let end = firstQuote;
  let escapes = 0;
  for (let backslash = lexer.backslashFrom(from); backslash < end; ) {
    result += text.slice(from, backslash);
    from = backslash;
    if (++escapes > FEW_ESCAPES) {
      const rest = readEscapedText(text, from);
      return rest && { content: result + rest.content, end: rest.end };
    }
    from++;
    if (from === end) end = text.indexOf('"', from + 1);
    // The search skips the escaped char, which is the first char of the next piece.
    backslash = lexer.backslashFrom(from + 1);
  }
  return end < 0 ? undefined : { content: result + text.slice(from, end), end: end + 1 };
}

/** Chars of the first chunk; small, since the chars after the end of the string are encoded for nothing. */
const FIRST_CHUNK = 1024;

/** The rest of a string without its escapes, and the index after its closing quote. */
interface EscapedText {
  readonly content: string;
  readonly end: number;
}

/**
 * Reads the rest of a string from `start`, which is not after a backslash, to its closing quote; `undefined` without one.
 *
 * Removes the backslashes from encoded chunks in place, because a slice for each escape takes three times as long.
 */
function readEscapedText(text: string, start: number): EscapedText | undefined {
  let content = "";
  let isEscaped = false;
  for (let from = start, size = FIRST_CHUNK; from < text.length; size = Math.min(4 * size, MAX_CHUNK)) {
    const chunk = chunkAt(text, from, size);
    const count = encodeChunk(chunk, plain);
    if (count < 0) return readUnencodable(text, content, isEscaped ? from - 1 : from);
    const piece = unescapeBytes(plain, count, isEscaped);
    const decoded = decodeBytes(plain, piece.length);
    content += decoded;
    if (piece.isClosed) return { content, end: from + decoded.length + piece.removed + 1 };
    isEscaped = piece.isEscaped;
    from += chunk.length;
  }
  return undefined;
}

interface Piece {
  /** Bytes that remain. */
  readonly length: number;
  /** Backslashes removed. */
  readonly removed: number;
  /** Whether the last byte was an escaping backslash. */
  readonly isEscaped: boolean;
  readonly isClosed: boolean;
}

/** Removes the escaping backslashes from `bytes`, up to the closing quote. */
function unescapeBytes(bytes: Uint8Array, count: number, startsEscaped: boolean): Piece {
  let index = startsEscaped ? 1 : 0;
  let length = index;
  while (index < count) {
    let byte = bytes[index++];
    if (byte === Char.quotes) return { length, removed: index - 1 - length, isEscaped: false, isClosed: true };
    if (byte === Char.backslash) {
      if (index === count) return { length, removed: index - length, isEscaped: true, isClosed: false };
      byte = bytes[index++];
    }
    bytes[length++] = byte ?? 0;
  }
  return { length, removed: count - length, isEscaped: false, isClosed: false };
}

/** Reads a string with lone surrogates, which UTF-8 cannot encode. Slow, but text from a wire has none. */
function readUnencodable(text: string, before: string, start: number): EscapedText | undefined {
  const end = skipDelimited(text, start - 1, Char.quotes);
  if (end < 0) return undefined;
  return { content: before + text.slice(start, end - 1).replace(/\\(.)/gs, "$1"), end };
}
