import { endsToken } from "../text/chars.js";
import type { LispSymbol } from "../types.js";

/** A token and its symbol. */
export interface Guess {
  readonly token: string;
  readonly symbol: LispSymbol;
}

/** How many first chars of a token, or of what follows a shorter one, a guess is made from. */
const WIDTH = 4;
const SLOTS = 1024;

/**
 * Guesses the symbol at a place from its first chars, and then only compares: that takes half the time of looking for
 * the end of the token and looking it up. Property lists are full of the same few keywords.
 *
 * Of bounded size: of several tokens that begin alike the latest is remembered.
 */
export class SymbolGuesses {
  readonly #slots: (Guess | undefined)[] = new Array<Guess | undefined>(SLOTS).fill(undefined);

  /** The guess that turns out to be the whole token at `start`. */
  at(text: string, start: number): Guess | undefined {
    if (start + WIDTH > text.length) return undefined;
    const guess = this.#slots[slotAt(text, start)];
    if (guess === undefined) return undefined;
    const end = start + guess.token.length;
    return text.slice(start, end) === guess.token && endsToken(text, end) ? guess : undefined;
  }

  /** Remembers the symbol of the token at `start`. */
  set(text: string, start: number, guess: Guess): void {
    if (start + WIDTH <= text.length) this.#slots[slotAt(text, start)] = guess;
  }
}

function slotAt(text: string, start: number): number {
  const first = text.charCodeAt(start) * 31 + text.charCodeAt(start + 1);
  const second = text.charCodeAt(start + 2) * 31 + text.charCodeAt(start + 3);
  return (first * 961 + second) & (SLOTS - 1);
}
