/** How to find out that the other side has stopped answering although the connection stands. */
export interface HeartbeatOptions {
  /** Milliseconds of silence after which the other side is asked for a sign of life; default 15000. */
  readonly interval?: number | undefined;
  /** Intervals of silence after which the connection is given up; default 8, which is two minutes. */
  readonly patience?: number | undefined;
}

/** What a heartbeat does to its connection. */
export interface HeartbeatActions {
  /** Asks for a sign of life, once per silence. */
  probe(): void;
  /** The answer is overdue, or came after all. */
  onChange(isAnswering: boolean): void;
  /** The other side has been silent for that many milliseconds. */
  giveUp(silence: number): void;
}

const DEFAULTS = { interval: 15_000, patience: 8 } as const;

/**
 * Watches for silence. Whatever comes is a sign of life, so that a busy connection is never asked.
 *
 * Counts intervals rather than time: after this process was suspended, what arrived meanwhile is read before the next interval ends.
 */
export class Heartbeat {
  readonly #interval: number;
  readonly #patience: number;
  readonly #actions: HeartbeatActions;
  readonly #timer: NodeJS.Timeout;
  /** Whole intervals without a byte; -1 in an interval in which something came. */
  #silent = -1;

  constructor(
    { interval = DEFAULTS.interval, patience = DEFAULTS.patience }: HeartbeatOptions,
    actions: HeartbeatActions,
  ) {
    this.#interval = interval;
    this.#patience = patience;
    this.#actions = actions;
    // The connection keeps the process alive, not the watch on it.
    this.#timer = setInterval(() => this.#beat(), interval).unref();
  }

  /** Something came. */
  heard(): void {
    if (this.#silent > 1) this.#actions.onChange(true);
    this.#silent = -1;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    this.#silent += 1;
    if (this.#silent === 1) this.#actions.probe();
    if (this.#silent === 2) this.#actions.onChange(false);
    if (this.#silent >= this.#patience) this.#actions.giveUp(this.#silent * this.#interval);
  }
}
