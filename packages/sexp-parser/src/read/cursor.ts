import type { ReadErrorCode } from "../errors.js";
import { SexpError } from "../errors.js";

/** A text and the place in it that is read next. */
export class Cursor {
  readonly text: string;
  pos = 0;
  #backslash = -1;

  constructor(text: string) {
    this.text = text;
  }

  /** The char code at the current place, NaN at the end. */
  peek(): number {
    return this.text.charCodeAt(this.pos);
  }

  /**
   * The index of the first backslash at or after `from`, or the length of the text.
   *
   * The answer is kept, so that many strings in a text without backslashes cost one search in all.
   */
  nextBackslash(from: number): number {
    if (this.#backslash < from) {
      const found = this.text.indexOf("\\", from);
      this.#backslash = found < 0 ? this.text.length : found;
    }
    return this.#backslash;
  }

  /** An error at `offset`, to be thrown by the caller. */
  error(code: ReadErrorCode, offset: number): SexpError {
    return new SexpError(code, this.text, offset);
  }
}
