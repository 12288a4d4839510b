/** Maximum size of a kept string and of an outline, in bytes. */
const MAX_STRING = 200;
const MAX_OUTLINE = 4000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NULL = Buffer.from("null");

const OPENING: ReadonlySet<number> = new Set(Buffer.from("{["));
const CLOSING: ReadonlySet<number> = new Set(Buffer.from("}]"));

/**
 * Reduces a JSON object of any size to its own keys and short values. Nested values and long strings become `null`.
 *
 * Finds the id of a message that is too long to keep, wherever the id is in the message.
 */
export class MessageOutline {
  readonly #kept: number[] = [];
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  /** Index in the kept bytes at which the current string begins. */
  #stringStart = 0;

  /** Adds the next bytes of the message. */
  push(bytes: Buffer): void {
    for (let index = 0; index < bytes.length; index += 1) {
      if (this.#inString && !this.#keepsString) index = this.#skipPlain(bytes, index);
      const byte = bytes[index];
      if (byte === undefined) return;
      if (this.#inString) this.#takeInString(byte);
      else this.#take(byte);
    }
  }

  /** Returns the object, or `undefined` if the message is not an object or has too many keys. */
  read(): unknown {
    if (this.#kept.length >= MAX_OUTLINE) return undefined;
    try {
      return JSON.parse(Buffer.from(this.#kept).toString());
    } catch {
      return undefined;
    }
  }

  /** Skips a string that is not kept, because such strings fill most of a long message. => index of its closing quote or of the end */
  #skipPlain(bytes: Buffer, start: number): number {
    let index = this.#isEscaped ? start + 1 : start;
    while (index < bytes.length && bytes[index] !== QUOTE) index += bytes[index] === BACKSLASH ? 2 : 1;
    this.#isEscaped = index > bytes.length;
    return index;
  }

  #take(byte: number): void {
    if (OPENING.has(byte)) this.#open(byte);
    else if (CLOSING.has(byte)) this.#close(byte);
    else {
      if (byte === QUOTE) this.#enterString();
      this.#keep(byte);
    }
  }

  #open(byte: number): void {
    if (this.#depth === 0) this.#keep(byte);
    else if (this.#depth === 1) for (const kept of NULL) this.#keep(kept);
    this.#depth += 1;
  }

  #close(byte: number): void {
    this.#depth -= 1;
    if (this.#depth === 0) this.#keep(byte);
  }

  #enterString(): void {
    this.#inString = true;
    this.#stringStart = this.#kept.length;
  }

  #takeInString(byte: number): void {
    const isEnd = byte === QUOTE && !this.#isEscaped;
    this.#isEscaped = byte === BACKSLASH && !this.#isEscaped;
    this.#inString = !isEnd;
    this.#keep(byte);
    if (isEnd && this.#depth <= 1 && this.#kept.length - this.#stringStart > MAX_STRING) this.#shorten();
  }

  /** Replaces a long string by `null`: a truncated id would be a different id. */
  #shorten(): void {
    this.#kept.splice(this.#stringStart, Number.POSITIVE_INFINITY, ...NULL);
  }

  #keep(byte: number): void {
    if (this.#depth > 1 || this.#kept.length >= MAX_OUTLINE) return;
    if (!this.#inString || this.#keepsString) this.#kept.push(byte);
  }

  get #keepsString(): boolean {
    return this.#depth <= 1 && this.#kept.length - this.#stringStart <= MAX_STRING;
  }
}
