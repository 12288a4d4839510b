/** Code units between two places whose counts are kept. */
const STEP = 256;

/** The size of a code point in some unit. */
export type SizeOf = (codePoint: number) => number;

/** The index of the last of the ascending numbers that is not larger than `value`; 0 if there is none. */
export function lastAtMost(ascending: readonly number[], value: number): number {
  let low = 0;
  let high = ascending.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) <= value) low = middle;
    else high = middle;
  }
  return low;
}

/** Finds places in a text by the number of characters, or bytes, before them. */
export class CountedText {
  readonly #text: string;
  readonly #sizeOf: SizeOf;
  readonly #offsets = [0];
  readonly #counts = [0];

  constructor(text: string, sizeOf: SizeOf) {
    this.#text = text;
    this.#sizeOf = sizeOf;
    let count = 0;
    let next = STEP;
    for (let offset = 0; offset < text.length; offset += unitsAt(text, offset)) {
      if (offset >= next) {
        this.#offsets.push(offset);
        this.#counts.push(count);
        next = offset + STEP;
      }
      count += sizeOf(text.codePointAt(offset) ?? 0);
    }
  }

  /** The offset of the character that begins at, or contains, `count`; the end of the text if `count` is larger. */
  offsetOf(count: number): number {
    const known = lastAtMost(this.#counts, count);
    let offset = this.#offsets[known] ?? 0;
    let before = this.#counts[known] ?? 0;
    while (offset < this.#text.length) {
      before += this.#sizeOf(this.#text.codePointAt(offset) ?? 0);
      if (before > count) break;
      offset += unitsAt(this.#text, offset);
    }
    return offset;
  }
}

function unitsAt(text: string, offset: number): number {
  return (text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
}
