import { cutStart } from "../text/cut.js";

/** Shortest and longest interval between two notifications, in milliseconds. */
const TICK = 500;

const HEARTBEAT = 5000;

/** Most characters of output in one notification, which has the latest. */
const MAX_TEXT = 500;

interface ProgressNote {
  /** Seconds since the call began. MCP requires a value that grows with every notification. */
  readonly progress: number;
  readonly message: string;
}

/**
 * Sends a client the latest output of a call, at most twice a second. Without output it reports every few seconds that the call still runs:
 * a client without progress may time out.
 */
export class ProgressReporter {
  readonly #send: (note: ProgressNote) => Promise<void>;
  readonly #began = performance.now();
  readonly #timer: NodeJS.Timeout;
  #fresh = "";
  #lastNote = 0;

  /** True until the client has taken the previous notification. No other is sent until then. */
  #isSending = false;

  constructor(send: (note: ProgressNote) => Promise<void>) {
    this.#send = send;
    this.#timer = setInterval(() => this.#tick(), TICK);
  }

  add(text: string): void {
    this.#fresh = cutStart(this.#fresh + text, MAX_TEXT, "");
  }

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
