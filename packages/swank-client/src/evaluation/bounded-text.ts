/**
 * Text that arrives in pieces, of which only the beginning and the end are kept.
 *
 * Sizes are UTF-16 code units.
 */
export class BoundedText {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  #head = "";
  #tail = "";
  #omitted = 0;

  constructor(headLimit: number, tailLimit: number) {
    this.#headLimit = headLimit;
    this.#tailLimit = tailLimit;
  }

  append(text: string): void {
    if (this.#omitted > 0 || this.#tail !== "") {
      this.#appendTail(text);
      return;
    }
    const room = this.#headLimit - this.#head.length;
    this.#head += text.length <= room ? text : text.slice(0, room);
    if (text.length > room) this.#appendTail(text.slice(room));
  }

  /** Notes that `count` characters were left out at this point already. */
  skip(count: number): void {
    this.#omitted += count;
  }

  /** Everything kept, with a line in place of what is missing; begins anew. */
  take(): string {
    const text = this.#omitted === 0 ? this.#head + this.#tail : `${this.#head}${this.#marker()}${this.#tail}`;
    this.#head = "";
    this.#tail = "";
    this.#omitted = 0;
    return text;
  }

  #appendTail(text: string): void {
    const joined = this.#tail + text;
    const excess = Math.max(0, joined.length - this.#tailLimit);
    this.#omitted += excess;
    this.#tail = joined.slice(excess);
  }

  #marker(): string {
    return `\n[... ${this.#omitted} characters left out ...]\n`;
  }
}
