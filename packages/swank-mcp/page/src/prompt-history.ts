/** Most entries that are kept. */
const MOST = 100;

/** What was evaluated at a prompt, to go back to and forth in. */
export class PromptHistory {
  /** Oldest first. */
  entries: readonly string[];
  /** How many entries back; 0 for the text that is being written. */
  #back = 0;
  #draft = "";

  constructor(entries: readonly string[] = []) {
    this.entries = entries.slice(-MOST);
  }

  /** Adds what was evaluated, and returns to the end. */
  add(text: string): void {
    this.entries = [...this.entries.filter((entry) => entry !== text), text].slice(-MOST);
    this.#back = 0;
    this.#draft = "";
  }

  /** The entry before, or `undefined` at the first. Keeps the draft that was being written. */
  earlier(current: string): string | undefined {
    if (this.#back === this.entries.length) return undefined;
    if (this.#back === 0) this.#draft = current;
    this.#back += 1;
    return this.entries.at(-this.#back);
  }

  /** The entry after, in the end the draft, or `undefined` if that is shown. */
  later(): string | undefined {
    if (this.#back === 0) return undefined;
    this.#back -= 1;
    return this.#back === 0 ? this.#draft : this.entries.at(-this.#back);
  }
}
