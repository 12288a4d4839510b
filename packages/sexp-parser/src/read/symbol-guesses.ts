import { endsToken } from "../text/chars.js";
import type { LispSymbol } from "../types.js";

/** A token and its symbol. */
export interface Guess {
  readonly token: string;
  readonly symbol: LispSymbol;
}

/** A guess depends on this many chars from the start of the token, including those after a shorter token. */
const WIDTH = 4;
const SLOTS = 1024;
/** Tokens with the same first chars that are kept: replies have `:warnings`, `:warning-counts` and `:warnings-omitted`. */
const KEPT = 4;

/** One of the tokens with the same first chars. */
interface Entry extends Guess {
  next: Entry | undefined;
}

/**
 * Guesses the symbol from the first chars of a token and compares the whole token. This takes half the time of finding
 * the end of the token and looking it up. Property lists repeat the same few keywords.
 *
 * The size is bounded: of tokens with the same first chars only the latest few are kept.
 */
export class SymbolGuesses {
  readonly #slots: (Entry | undefined)[] = new Array<Entry | undefined>(SLOTS).fill(undefined);

  /** The guess for the token at `start`, if it is correct. */
  at(text: string, start: number): Guess | undefined {
    if (start + WIDTH > text.length) return undefined;
    for (let entry = this.#slots[slotAt(text, start)]; entry !== undefined; entry = entry.next) {
      const end = start + entry.token.length;
      if (endsToken(text, end) && text.slice(start, end) === entry.token) return entry;
    }
    return undefined;
  }

  /** Stores the symbol of the token at `start`, which `at` did not find. */
  set(text: string, start: number, { token, symbol }: Guess): void {
    if (start + WIDTH > text.length) return;
    const slot = slotAt(text, start);
    const first: Entry = { token, symbol, next: this.#slots[slot] };
    this.#slots[slot] = first;
    let last: Entry | undefined = first;
    for (let count = 1; count < KEPT && last !== undefined; count++) last = last.next;
    if (last !== undefined) last.next = undefined;
  }
}

/** Ignores the first two chars: the first is nearly always the colon of a keyword, and reading each char takes time. */
function slotAt(text: string, start: number): number {
  return (text.charCodeAt(start + 2) * 31 + text.charCodeAt(start + 3)) & (SLOTS - 1);
}
