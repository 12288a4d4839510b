import type { Position } from "sexp-parser";
import { CountedText, lastAtMost, type SizeOf } from "./counted-text.js";
import { decodeSource } from "./encoding.js";

const BYTE_ORDER_MARK = "\ufeff";

/** The bytes of {@link BYTE_ORDER_MARK} in UTF-8. */
const MARK_BYTES = 3;

const isOne: SizeOf = () => 1;
const inUtf8: SizeOf = (codePoint) => (codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4);

/**
 * The text of a file, with the positions of Lisp in it. Lisp counts characters (code points), and for some errors bytes; editors and JavaScript
 * count UTF-16 code units. The first conversion passes over the text once; all others search in what it has counted.
 */
export class SourceText {
  /** Without the byte order mark, as editors show it. Ends of lines are unchanged. */
  readonly text: string;
  readonly #hasMark: boolean;
  readonly #hasSingleBytes: boolean;
  #lineStarts: readonly number[] | undefined;
  #characters: CountedText | undefined;
  #bytes: CountedText | undefined;

  /**
   * @param source - A text; or the bytes of a file, in the encoding that the file names as Emacs and Swank read it (`-*- coding: latin-1 -*-`),
   * otherwise in UTF-8, or in Latin-1 if they are no UTF-8.
   */
  constructor(source: string | Uint8Array) {
    const { text, hasSingleBytes } = decodeSource(source);
    this.#hasMark = text.startsWith(BYTE_ORDER_MARK);
    this.text = this.#hasMark ? text.slice(1) : text;
    this.#hasSingleBytes = hasSingleBytes;
  }

  /** The position of an offset in UTF-16 code units, from 0. An offset beyond the end counts as the end. */
  at(offset: number): Position {
    this.#lineStarts ??= lineStarts(this.text);
    const within = Math.max(0, Math.min(offset, this.text.length));
    const line = lastAtMost(this.#lineStarts, within);
    return { offset: within, line: line + 1, column: within - (this.#lineStarts[line] ?? 0) + 1 };
  }

  /** The position of a character, counted by Lisp from 1. */
  atCharacter(position: number): Position {
    this.#characters ??= new CountedText(this.text, isOne);
    return this.at(this.#characters.offsetOf(position - (this.#hasMark ? 2 : 1)));
  }

  /** The position of the character that contains a byte, counted from 1. */
  atByte(position: number): Position {
    if (this.#hasSingleBytes) return this.atCharacter(position);
    this.#bytes ??= new CountedText(this.text, inUtf8);
    return this.at(this.#bytes.offsetOf(position - 1 - (this.#hasMark ? MARK_BYTES : 0)));
  }

  /** The position of a line, from 1, and a column in characters, from 0. Without a column, of the first visible character of the line. */
  atLine(line: number, column?: number): Position {
    this.#lineStarts ??= lineStarts(this.text);
    const start = this.#lineStarts[line - 1] ?? this.text.length;
    const content = this.text.slice(start, (this.#lineStarts[line] ?? this.text.length + 1) - 1);
    const within = column === undefined ? content.search(/\S|$/) : new CountedText(content, isOne).offsetOf(column);
    return this.at(start + within);
  }
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let newline = text.indexOf("\n"); newline >= 0; newline = text.indexOf("\n", newline + 1))
    starts.push(newline + 1);
  return starts;
}
