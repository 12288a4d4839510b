import type { ReadErrorCode } from "../errors.js";
import { SexpError } from "../errors.js";
import { createdSymbols } from "../syntax/symbols.js";
import { codeAt } from "../text/chars.js";

/** Limits for a text from a peer that is not trusted. */
export interface ReadLimits {
  /** The most lists and prefixes around a datum. Default: no limit. */
  readonly maxDepth?: number | undefined;
  /** The most symbols that did not exist before. Default: no limit. */
  readonly maxNewSymbols?: number | undefined;
  /**
   * Characters of an integer or ratio, its sign and slash included. Floats need no limit. Default: no limit; a million digits then take
   * about half a second, and the time grows faster than the length.
   */
  readonly maxNumberLength?: number | undefined;
}

/** Larger than any text in memory. A small integer, so that engines compare it fast with other limits. */
const NO_LIMIT = 2 ** 30 - 1;

/** A text and the index that is read next. */
export class Cursor {
  readonly text: string;
  pos = 0;

  readonly maxDepth: number;
  readonly maxNumberLength: number;
  /** The most symbols that may exist after reading. */
  readonly #lastSymbol: number;
  #backslash = -1;

  constructor(text: string, { maxDepth, maxNewSymbols, maxNumberLength }: ReadLimits = {}) {
    this.text = text;
    this.maxNumberLength = maxNumberLength ?? NO_LIMIT;
    this.maxDepth = maxDepth ?? NO_LIMIT;
    this.#lastSymbol = createdSymbols() + (maxNewSymbols ?? NO_LIMIT);
  }

  /** The index of the first backslash at or after `start`, or the length of the text. Call it with ascending starts. */
  backslashFrom(start: number): number {
    if (this.#backslash < start) {
      const found = this.text.indexOf("\\", start);
      this.#backslash = found < 0 ? this.text.length : found;
    }
    return this.#backslash;
  }

  /** Checks the limit after a symbol was read at `offset`. */
  checkSymbols(offset: number): void {
    if (createdSymbols() > this.#lastSymbol) throw this.error("TOO_MANY_SYMBOLS", offset);
  }

  /** The char code at the current place, -1 at the end. */
  peek(): number {
    return codeAt(this.text, this.pos);
  }

  /** An error at `offset`, for the caller to throw. */
  error(code: ReadErrorCode, offset: number): SexpError {
    return new SexpError(code, this.text, offset);
  }
}
