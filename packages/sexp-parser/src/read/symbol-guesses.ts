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

/**
 * Guesses the symbol from the first chars of a token and compares the whole token. This takes half the time of finding
 * the end of the token and looking it up. Property lists repeat the same few keywords.
 *
 * The size is bounded: of tokens with the same first chars only the latest is kept.
 */
export class SymbolGuesses {
  readonly #slots: (Guess | undefined)[] = new Array<Guess | undefined>(SLOTS).fill(undefined);

  /** The guess for the token at `start`, if it is correct. */
  at(text: string, start: number): Guess | undefined {
    if (start + WIDTH > text.length) return undefined;
    const guess = this.#slots[slotAt(text, start)];
    if (guess === undefined) return undefined;
    const end = start + guess.token.length;
    return text.slice(start, end) === guess.token && endsToken(text, end) ? guess : undefined;
  }

  /** Stores the symbol of the token at `start`. */
  set(text: string, start: number, guess: Guess): void {
    if (start + WIDTH <= text.length) this.#slots[slotAt(text, start)] = guess;
  }
}

/** Ignores the first char, which is nearly always the colon of a keyword. Each char takes time. */
function slotAt(text: string, start: number): number {
  const [second, third, fourth] = [text.charCodeAt(start + 1), text.charCodeAt(start + 2), text.charCodeAt(start + 3)];
  return (second * 961 + third * 31 + fourth) & (SLOTS - 1);
}
