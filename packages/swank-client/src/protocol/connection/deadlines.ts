/**
 * Calls a function for each id that is not removed in time. One timer serves all, because most waits end long before it fires, and a timer for
 * each takes 10 µs in a program that has just started.
 */
export class Deadlines {
  readonly #onMissed: (id: number) => void;
  /** Times of `performance.now()`, by id. */
  readonly #times = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;
  /** When the timer fires. */
  #wakes = Number.POSITIVE_INFINITY;

  /** @param onMissed - Called once with each id whose time has passed, at most 2 ms later. It must not throw. */
  constructor(onMissed: (id: number) => void) {
    this.#onMissed = onMissed;
  }

  /** @param milliseconds - At most what a timer can wait. */
  add(id: number, milliseconds: number): void {
    const time = performance.now() + milliseconds;
    this.#times.set(id, time);
    if (time < this.#wakes) this.#wakeAt(time);
    else if (this.#times.size === 1) this.#timer?.ref();
  }

  delete(id: number): void {
    // A timer that nobody waits for must not keep the process from ending.
    if (this.#times.delete(id) && this.#times.size === 0) this.#timer?.unref();
  }

  /** Forgets all ids, and releases the timer. */
  clear(): void {
    this.#times.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#wakes = Number.POSITIVE_INFINITY;
  }

  #wakeAt(time: number): void {
    clearTimeout(this.#timer);
    this.#wakes = time;
    this.#timer = setTimeout(this.#check, Math.max(1, time - performance.now()));
  }

  readonly #check = (): void => {
    const now = performance.now();
    const missed: number[] = [];
    let next = Number.POSITIVE_INFINITY;
    for (const [id, time] of this.#times) {
      if (time <= now) missed.push(id);
      else next = Math.min(next, time);
    }
    this.#timer = undefined;
    this.#wakes = Number.POSITIVE_INFINITY;
    for (const id of missed) this.#times.delete(id);
    if (this.#times.size > 0) this.#wakeAt(next);
    for (const id of missed) this.#onMissed(id);
  };
}
