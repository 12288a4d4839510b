import { setTimeout } from "node:timers/promises";
import type { Sexp } from "sexp-parser";
import { type Caller, UNWOUND } from "../caller.js";
import { SwankError } from "../errors.js";
import type { ParkedThread } from "./parked-thread.js";
import type { StopChannel } from "./stop-channel.js";

/** Milliseconds that a stopped thread has to answer a question about itself. */
const ANSWER_TIME = 30_000;
/** Milliseconds between the reply of a request that unwinds the thread and the message that the thread has left the stop. */
const LEAVING_TIME = 5000;

/** The way to a stop of a thread that this client's requests reach: Swank announces it, and takes it back. */
export class ParkedChannel implements StopChannel {
  readonly #parked: ParkedThread;
  readonly #caller: Caller;
  readonly #atStop: (call: Sexp) => Sexp;

  /** @param atStop - Has a call made at this very stop only. */
  constructor(parked: ParkedThread, caller: Caller, atStop: (call: Sexp) => Sexp) {
    this.#parked = parked;
    this.#caller = caller;
    this.#atStop = atStop;
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

  get ended(): AbortSignal {
    return this.#parked.left;
  }

  async ask(form: Sexp, label: string, timeout = ANSWER_TIME): Promise<Sexp> {
    this.#checkLive(label);
    try {
      return await this.#caller.call(this.#atStop(form), { label, thread: this.thread, timeout, signal: this.ended });
    } catch (error) {
      throw this.isLive ? error : this.stale(label);
    }
  }

  async askAside(form: Sexp, label: string): Promise<Sexp> {
    return this.#caller.call(form, { label, timeout: ANSWER_TIME });
  }

  async leave(form: Sexp, label: string, timeout = ANSWER_TIME): Promise<Sexp | typeof UNWOUND> {
    this.#checkLive(label);
    try {
      const options = { label, thread: this.thread, timeout, signal: this.ended };
      const reply = await this.#caller.callUnwinding(this.#atStop(form), options);
      if (reply === UNWOUND) await this.#departure(label);
      return reply;
    } catch (error) {
      if (this.isLive) throw error;
      // whatever becomes of a connection that is lost, its evaluations tell; otherwise it was another request that left
      if (this.#caller.isOpen) throw this.stale(label);
      return UNWOUND;
    }
  }

  stale(label: string): SwankError {
    return new SwankError("STALE_SESSION", `${label}: Thread ${this.thread} has left the stop at level ${this.level}.`);
  }

  async #departure(label: string): Promise<void> {
    await setTimeout(LEAVING_TIME, undefined, { signal: this.ended }).catch(() => undefined);
    if (this.isLive)
      throw new SwankError("REQUEST_ABORTED", `${label}: It was aborted; the thread is stopped as it was.`);
  }

  #checkLive(label: string): void {
    if (!this.isLive) throw this.stale(label);
  }
}
