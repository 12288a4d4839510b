import type { Sexp } from "sexp-parser";
import { type Caller, UNWOUND } from "../caller.js";
import { SwankError } from "../errors.js";
import type { ParkedThread } from "./parked-thread.js";

/** Milliseconds that a stopped thread has to answer a question about itself. */
const ANSWER_TIME = 30_000;

/** The way to one stop of one thread, closed for good when the thread leaves it. */
export class StopChannel {
  readonly #parked: ParkedThread;
  readonly #caller: Caller;

  constructor(parked: ParkedThread, caller: Caller) {
    this.#parked = parked;
    this.#caller = caller;
  }

  get thread(): number {
    return this.#parked.thread;
  }

  get level(): number {
    return this.#parked.level;
  }

  get isLive(): boolean {
    return this.#parked.isLive;
  }

  /** Aborted when the thread leaves the stop. */
  get ended(): AbortSignal {
    return this.#parked.left;
  }

  /**
   * Runs a form in the stopped thread, which stays as it was.
   *
   * @throws SwankError `STALE_SESSION`, and what `Caller.call` throws.
   */
  async ask(form: Sexp, label: string, timeout = ANSWER_TIME): Promise<Sexp> {
    this.#checkLive(label);
    try {
      return await this.#caller.call(form, { label, thread: this.thread, timeout, signal: this.ended });
    } catch (error) {
      throw this.isLive ? error : this.stale(label);
    }
  }

  /**
   * Runs a form that makes the thread leave the stop.
   *
   * @returns `UNWOUND`, or the form's value when it refused.
   * @throws SwankError `STALE_SESSION`, and what `Caller.callUnwinding` throws.
   */
  async leave(form: Sexp, label: string): Promise<Sexp | typeof UNWOUND> {
    this.#checkLive(label);
    try {
      const options = { label, thread: this.thread, timeout: ANSWER_TIME, signal: this.ended };
      return await this.#caller.callUnwinding(form, options);
    } catch (error) {
      if (this.isLive) throw error;
      return UNWOUND;
    }
  }

  stale(label: string): SwankError {
    return new SwankError("STALE_SESSION", `${label}: Thread ${this.thread} has left the stop at level ${this.level}.`);
  }

  #checkLive(label: string): void {
    if (!this.isLive) throw this.stale(label);
  }
}
