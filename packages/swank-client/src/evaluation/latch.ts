/**
 * Something that happens once. Waiting for it leaves nothing in memory, unlike a promise, and costs nothing when nobody waits, unlike an
 * `AbortController`.
 */
export class Latch {
  readonly #waiters = new Set<() => void>();
  #isOpen = false;

  get isOpen(): boolean {
    return this.#isOpen;
  }

  open(): void {
    this.#isOpen = true;
    for (const proceed of this.#waiters) proceed();
    this.#waiters.clear();
  }

  /** Resolves when the latch opens, at the latest after `milliseconds`. */
  within(milliseconds: number): Promise<void> {
    if (this.#isOpen) return Promise.resolve();
    return new Promise((resolve) => {
      const proceed = () => {
        clearTimeout(timer);
        this.#waiters.delete(proceed);
        resolve();
      };
      const timer = setTimeout(proceed, milliseconds);
      this.#waiters.add(proceed);
    });
  }
}
