/** Messages remembered. */
const CAPACITY = 8;

/** Characters of each. */
const EXCERPT_LENGTH = 300;

/**
 * Remembers the last messages sent.
 *
 * A Swank server answers a message that it cannot digest by closing the connection, so what was sent last is the best clue there is.
 */
export class SentLog {
  readonly #messages: string[] = [];

  add(message: string): void {
    this.#messages.push(message.length > EXCERPT_LENGTH ? `${copyOfStart(message)}...` : message);
    if (this.#messages.length > CAPACITY) this.#messages.shift();
  }

  /** Oldest first. */
  get messages(): readonly string[] {
    return [...this.#messages];
  }
}

/** A slice would keep the whole message in memory. */
function copyOfStart(message: string): string {
  return Buffer.from(message.slice(0, EXCERPT_LENGTH)).toString();
}
