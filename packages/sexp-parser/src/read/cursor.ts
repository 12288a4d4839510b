import type { ReadErrorCode } from "../errors.js";
import { SexpError } from "../errors.js";
import { createdSymbols } from "../syntax/symbols.js";
import { codeAt } from "../text/chars.js";

/** What a text may hold at most, where it comes from a peer that is not trusted. */
export interface ReadLimits {
  /** Lists and prefixes around a datum. Default: no limit. */
  readonly maxDepth?: number | undefined;
  /** Symbols that no text had before. Default: no limit. */
  readonly maxNewSymbols?: number | undefined;
}

/** A text and the place in it that is read next. */
export class Cursor {
  readonly text: string;
  pos = 0;

  readonly maxDepth: number;
  /** The number of symbols there may be after reading. */
  readonly #lastSymbol: number;

  constructor(text: string, { maxDepth, maxNewSymbols }: ReadLimits = {}) {
    this.text = text;
    this.maxDepth = maxDepth ?? Number.POSITIVE_INFINITY;
    this.#lastSymbol = createdSymbols() + (maxNewSymbols ?? Number.POSITIVE_INFINITY);
  }

  /** Called after a symbol was read at `offset`. */
  checkSymbols(offset: number): void {
    if (createdSymbols() > this.#lastSymbol) throw this.error("TOO_MANY_SYMBOLS", offset);
  }

  /** The char code at the current place, -1 at the end. */
  peek(): number {
    return codeAt(this.text, this.pos);
  }

  /** An error at `offset`, to be thrown by the caller. */
  error(code: ReadErrorCode, offset: number): SexpError {
    return new SexpError(code, this.text, offset);
  }
}
