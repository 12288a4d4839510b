/** Waiting times between attempts to connect, in milliseconds. */
export interface Backoff {
  /** Before the second attempt. Default 100. */
  readonly first?: number | undefined;
  /** The factor by which each wait is longer than the one before. Default 2. */
  readonly factor?: number | undefined;
  /** The longest wait. Default 10000. A connection that lasts this long resets the waits. */
  readonly longest?: number | undefined;
  /** Consecutive attempts that may fail before it gives up. Default: no limit. */
  readonly attempts?: number | undefined;
}

/** The waits of one client. Each is longer than the one before, until a connection is stable. */
export class GrowingDelay {
  readonly #first: number;
  readonly #factor: number;
  readonly #longest: number;
  #next: number;

  constructor({ first = 100, factor = 2, longest = 10_000 }: Backoff) {
    this.#first = first;
    this.#factor = factor;
    this.#longest = longest;
    this.#next = first;
  }

  /** Milliseconds to wait after a failed attempt. */
  next(): number {
    const delay = this.#next;
    this.#next = Math.min(delay * this.#factor, this.#longest);
    return delay;
  }

  /**
   * Milliseconds to wait after a lost connection: 0 after a stable one. Without this wait, a server that accepts clients and closes at once
   * would be flooded with connections.
   *
   * @param lifetime - Milliseconds that the connection lasted.
   */
  afterLoss(lifetime: number): number {
    if (lifetime < this.#longest) return this.next();
    this.#next = this.#first;
    return 0;
  }
}
