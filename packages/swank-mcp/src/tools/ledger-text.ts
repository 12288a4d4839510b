import { wholeEnd } from "../text/cut.js";

/** Most characters of a text in a line of the ledger, and of the texts of a list together. */
export const MAX_TEXT = 20_000;

/** Most items of a list. */
const MAX_ITEMS = 100;

/** Cuts the texts of one line, and counts what it leaves out by field. */
export class LedgerCuts {
  readonly #leftOut: Record<string, number> = {};

  /** The text, or its beginning. */
  text(field: string, text: string): string {
    const kept = text.slice(0, wholeEnd(text, MAX_TEXT));
    this.#count(field, text.length - kept.length);
    return kept;
  }

  /** The texts, as many as fit. A text that does not fit is cut, and later ones are left out. */
  texts(field: string, texts: readonly string[]): readonly string[] {
    let room = MAX_TEXT;
    const kept: string[] = [];
    for (const text of texts) {
      if (room === 0 || kept.length === MAX_ITEMS) break;
      const part = text.slice(0, wholeEnd(text, room));
      kept.push(part);
      room = part.length === text.length ? room - part.length : 0;
    }
    this.#count(field, lengthOf(texts) - lengthOf(kept));
    if (kept.length < texts.length) this.#count(`${field}_items`, texts.length - kept.length);
    return kept;
  }

  /** The data, or the beginning of its JSON text if that is too long. */
  data(field: string, data: unknown): unknown {
    const text = JSON.stringify(data) ?? "null";
    return text.length <= MAX_TEXT ? data : this.text(field, text);
  }

  /** The number of characters left out of each field, as a field of the line; none if nothing was. */
  get field(): { readonly cut?: Readonly<Record<string, number>> } {
    return Object.keys(this.#leftOut).length === 0 ? {} : { cut: this.#leftOut };
  }

  #count(field: string, leftOut: number): void {
    if (leftOut > 0) this.#leftOut[field] = leftOut;
  }
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}
