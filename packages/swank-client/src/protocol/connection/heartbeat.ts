/** How to detect that the other side has stopped answering on an open connection. */
export interface HeartbeatOptions {
  /** Milliseconds of silence after which a heartbeat is sent. Default 15000. */
  readonly interval?: number | undefined;
  /** Intervals of silence after which the connection is abandoned. Default 8, which is 2 minutes. */
  readonly patience?: number | undefined;
}

/** A heartbeat's actions on its connection. */
export interface HeartbeatActions {
  /** A count that grows whenever something comes. */
  received(): number;
  /** Sends a heartbeat, once per silence. */
  probe(): void;
  /** The sign of life is overdue. */
  onOverdue(): void;
  /** The other side has been silent for that many milliseconds. */
  giveUp(silence: number): void;
}

const DEFAULTS = { interval: 15_000, patience: 8 } as const;

/**
 * Watches for silence. Any received data counts as a sign of life, so that no heartbeat is sent on a busy connection.
 *
 * Counts intervals instead of time: after this process was suspended, waiting data is read before the next interval ends.
 */
export class Heartbeat {
  readonly #interval: number;
  readonly #patience: number;
  readonly #actions: HeartbeatActions;
  readonly #timer: NodeJS.Timeout;
  /** Whole intervals without a byte; -1 in the first one. */
  #silent = -1;
  /** What `received` gave at the end of the last interval. */
  #received = 0;

  constructor(
    { interval = DEFAULTS.interval, patience = DEFAULTS.patience }: HeartbeatOptions,
    actions: HeartbeatActions,
  ) {
    this.#interval = interval;
    this.#patience = patience;
    this.#actions = actions;
    // The connection keeps the process alive; the timer must not.
    this.#timer = setInterval(() => this.#beat(), interval).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    const received = this.#actions.received();
    this.#silent = received === this.#received ? this.#silent + 1 : 0;
    this.#received = received;
    if (this.#silent === 1) this.#actions.probe();
    if (this.#silent === 2) this.#actions.onOverdue();
    if (this.#silent >= this.#patience) this.#actions.giveUp(this.#silent * this.#interval);
  }
}
