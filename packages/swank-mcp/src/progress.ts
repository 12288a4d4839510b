/** How often progress is told at most, and at least, in milliseconds. */
const TICK = 500;
const HEARTBEAT = 5000;
/** Longest piece of output that one notification carries; it is the latest. */
const MAX_TEXT = 500;

/** What one notification says. */
export interface ProgressNote {
  /** Grows with every notification, as MCP demands: seconds since the call began. */
  readonly progress: number;
  readonly message: string;
}

/**
 * Tells a client what a call is printing: the latest output a few times a second, and now and then that it still runs, since a client that
 * hears nothing may give up.
 */
export class ProgressReporter {
  readonly #send: (note: ProgressNote) => Promise<void>;
  readonly #began = performance.now();
  readonly #timer: NodeJS.Timeout;
  #fresh = "";
  #lastNote = 0;

  /** True while the client has not taken the note before: to one that does not read, no further ones are sent. */
  #isSending = false;

  constructor(send: (note: ProgressNote) => Promise<void>) {
    this.#send = send;
    this.#timer = setInterval(() => this.#tick(), TICK);
  }

  /** More output has come. */
  add(text: string): void {
    this.#fresh = (this.#fresh + text).slice(-MAX_TEXT);
  }

  /** Nothing is sent any more. */
  end(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    if (this.#isSending) return;
    const elapsed = performance.now() - this.#began;
    if (this.#fresh === "" && elapsed - this.#lastNote < HEARTBEAT) return;
    const seconds = elapsed / 1000;
    const message = this.#fresh.trim() || `Running for ${Math.round(seconds)} s.`;
    this.#fresh = "";
    this.#lastNote = elapsed;
    this.#isSending = true;
    void this.#send({ progress: seconds, message }).finally(() => {
      this.#isSending = false;
    });
  }
}
