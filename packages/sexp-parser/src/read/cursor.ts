import type { ReadErrorCode } from "../errors.js";
import { SexpError } from "../errors.js";
import { codeAt } from "../text/chars.js";

/** A text and the place in it that is read next. */
export class Cursor {
  readonly text: string;
  pos = 0;

  constructor(text: string) {
    this.text = text;
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
