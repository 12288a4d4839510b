import type { types } from "swank-client";

/** Output that belongs to no evaluation of the call that reports it. */
export interface ApartOutput {
  /** Who has written it, e.g. `thread 9 (worker)`. */
  readonly source: string;
  readonly text: string;
  /** When the first and the last of it have arrived, in milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
}

/** Characters that are kept of what one thread prints between two answers. */
const MAX_CHARACTERS = 400_000;

const MAX_THREADS = 50;

/** A line in the place of `count` characters; empty for none. */
export function gapLine(count: number): string {
  return count === 0 ? "" : `[... ${count} characters left out ...]\n`;
}

interface Printed {
  readonly source: string;
  readonly from: number;
  to: number;
  text: string;
  forgotten: number;
}

/** What threads have printed since the last answer that reports it. */
export class ThreadOutputs {
  #printed = new Map<string, Printed>();
  #threadsForgotten = 0;

  add({ thread, threadName, text, omittedBefore }: types.ThreadOutput, now = Date.now()): void {
    const source = `thread ${thread} (${threadName})`;
    const known = this.#printed.get(source);
    if (known === undefined && this.#printed.size === MAX_THREADS) {
      this.#threadsForgotten += 1;
      return;
    }
    const printed = known ?? { source, from: now, to: now, text: "", forgotten: 0 };
    this.#printed.set(source, printed);
    const isOnNewLine = printed.text === "" || printed.text.endsWith("\n");
    printed.text += (omittedBefore > 0 && !isOnNewLine ? "\n" : "") + gapLine(omittedBefore) + text;
    printed.to = now;
    const excess = printed.text.length - MAX_CHARACTERS;
    if (excess <= MAX_CHARACTERS / 2) return;
    printed.forgotten += excess;
    printed.text = printed.text.slice(excess);
  }

  take(): readonly ApartOutput[] {
    const taken = [...this.#printed.values()].map(({ source, from, to, text, forgotten }) => ({
      source,
      from,
      to,
      text: gapLine(forgotten) + text,
    }));
    const others = this.#threadsForgotten;
    this.#printed = new Map();
    this.#threadsForgotten = 0;
    if (others === 0) return taken;
    const now = Date.now();
    return [...taken, { source: "further threads", from: now, to: now, text: `[... ${others} pieces left out ...]\n` }];
  }
}
