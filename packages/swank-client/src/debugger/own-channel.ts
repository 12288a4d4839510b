import { quote, type Sexp } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import type { Latch } from "../evaluation/outcome-slot.js";
import type { Caller } from "../lisp/caller.js";
import { symbolNamed } from "../lisp/lisp-runner.js";
import type { SendOptions } from "../lisp/place.js";
import type { Reply } from "../protocol/wire/messages.js";
import type { DebuggerLevel } from "./debugger-levels.js";
import type { StopChannel } from "./stop-channel.js";

/** Milliseconds that a stopped thread has to answer a question about itself. */
const ANSWER_TIME = 30_000;
/** Milliseconds between the reply of a request that unwinds the thread and the message that the thread has left the stop. */
const LEAVING_TIME = 5000;

/** Restricts a form to one stop: the Lisp operator that evaluates it only there, and the image's number for the stop. */
export interface AtStop {
  readonly operator: string;
  readonly number: number;
}

/** The channel to a stop in this client's debugger. Swank announces such a stop and its end. */
export class OwnChannel implements StopChannel {
  readonly #level: DebuggerLevel;
  readonly #caller: Caller;
  readonly #atStop: AtStop | (() => Promise<AtStop | undefined>);
  /** Requests under way that make the thread leave if they succeed. */
  #leaving = 0;

  /** @param atStop - If it is not known yet, a function that finds it: `undefined` in an image without the runtime. */
  constructor(level: DebuggerLevel, caller: Caller, atStop: AtStop | (() => Promise<AtStop | undefined>)) {
    this.#level = level;
    this.#caller = caller;
    this.#atStop = atStop;
  }

  get left(): Latch {
    return this.#level.left;
  }

  get isLeaving(): boolean {
    return this.#leaving > 0;
  }

  async send(form: Sexp, options: SendOptions): Promise<Reply> {
    if (!options.mayLeave) return this.#ask(form, options);
    this.#leaving += 1;
    try {
      return await this.#ask(form, options);
    } finally {
      this.#leaving -= 1;
    }
  }

  async #ask(form: Sexp, { label, mayLeave, timeout = ANSWER_TIME }: SendOptions): Promise<Reply> {
    const { thread } = this.#level;
    try {
      const options = { label, thread, timeout, until: this.left };
      const known = this.#atStop;
      const atStop = typeof known === "function" ? await known() : known;
      const reply = await this.#caller.reply(guarded(form, atStop), options);
      if (reply.status === "abort" && mayLeave) await this.#departure(label);
      return reply;
    } catch (error) {
      // After a lost connection the evaluations report its end. Otherwise another request made the thread leave.
      if (mayLeave && this.left.isOpen && !this.#caller.isOpen) return { status: "abort", condition: "NIL" };
      throw error;
    }
  }

  async #departure(label: string): Promise<void> {
    await this.left.within(LEAVING_TIME);
    if (!this.left.isOpen) throw new SwankError("REQUEST_ABORTED", `${label}: It was aborted; the stop is unchanged.`);
  }
}

/** Guards against evaluating the form at a later stop: the thread may leave this one before it serves the request. */
function guarded(form: Sexp, atStop: AtStop | undefined): Sexp {
  return atStop === undefined ? form : [symbolNamed(atStop.operator), atStop.number, quote(form)];
}
