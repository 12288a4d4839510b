import { Char } from "../text/chars.js";
import { chunkAt, decodeBytes, encodeChunk, MAX_CHUNK, MAX_CHUNK_BYTES } from "../text/utf8.js";

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
