import type { Sexp } from "sexp-parser";
import { type Caller, UNWOUND } from "../caller.js";
import { decodeValue } from "../decode-value.js";
import { SwankError } from "../errors.js";
import type { DebuggerCalls } from "../runtime/debugger-calls.js";
import { type ForeignRefusal, type ForeignReply, foreignReply } from "../runtime/decode-foreign-stops.js";
import type { ForeignStopReport } from "./foreign-stop.js";
import type { StopChannel } from "./stop-channel.js";

/** Milliseconds that a stopped thread has for the answer to a question about itself. */
const ANSWER_TIME = 15_000;
/** Milliseconds after which the image has broken off what a thread does not finish, and says so. */
const BREAK_OFF_TIME = 15_000;

/** The way to a stop in another client's debugger: its thread is interrupted for each question. Nobody announces its end. */
export class ForeignChannel implements StopChannel {
  readonly #report: ForeignStopReport;
  readonly #caller: Caller;
  readonly #calls: DebuggerCalls;
  readonly #ended = new AbortController();

  constructor(report: ForeignStopReport, caller: Caller, calls: DebuggerCalls) {
    this.#report = report;
    this.#caller = caller;
    this.#calls = calls;
  }

  get thread(): number {
    return this.#report.thread;
  }

  get level(): number {
    return this.#report.level;
  }

  get isLive(): boolean {
    return !this.#ended.signal.aborted;
  }

  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** It was found that the thread has left the stop. */
  end(): void {
    this.#ended.abort();
  }

  async ask(form: Sexp, label: string, timeout = ANSWER_TIME): Promise<Sexp> {
    const reply = await this.#put(form, label, timeout, false);
    if (reply.kind === "value") return reply.value;
    throw this.#refusal(reply, label);
  }

  async askAside(form: Sexp, label: string): Promise<Sexp> {
    return this.#caller.call(form, { label, timeout: ANSWER_TIME });
  }

  async leave(form: Sexp, label: string, timeout = ANSWER_TIME): Promise<Sexp | typeof UNWOUND> {
    const reply = await this.#put(form, label, timeout, true);
    if (reply.kind === "value") return reply.value;
    if (reply.kind !== "left") throw this.#refusal(reply, label);
    this.end();
    return UNWOUND;
  }

  stale(label: string): SwankError {
    const { thread, level, owner } = this.#report;
    return new SwankError("STALE_SESSION", `${label}: Thread ${thread} has left the stop at level ${level}.`, {
      remedy: `It went on in ${owner.text}. foreignStops tells what is stopped now.`,
    });
  }

  async #put(form: Sexp, label: string, timeout: number, mayLeave: boolean): Promise<ForeignReply> {
    if (!this.isLive) throw this.stale(label);
    const call = this.#calls.askStop(this.#report.number, form, { timeout, mayLeave });
    const reply = await this.#caller.call(call, { label, timeout: timeout + BREAK_OFF_TIME });
    return decodeValue(foreignReply, reply, label);
  }

  #refusal(reply: ForeignRefusal, label: string): SwankError {
    const { thread, owner } = this.#report;
    switch (reply.kind) {
      case "left":
      case "stale":
        this.end();
        return this.stale(label);
      case "silent":
        return new SwankError("REQUEST_TIMEOUT", `${label}: Thread ${thread} does not answer.`, {
          remedy: `It runs without interrupts, or waits for something outside Lisp. Nothing was done there, and nothing will be. Look at it in ${owner.text}, or try again.`,
        });
      case "interrupted":
        return new SwankError("REQUEST_TIMEOUT", `${label}: Thread ${thread} took too long and was broken off.`, {
          remedy: `It may wait for a lock that another thread holds. It is stopped as it was: look at it in ${owner.text}, or try again.`,
        });
      case "failed":
        return new SwankError("REQUEST_FAILED", `${label}: ${reply.message} [${reply.type}]`);
    }
  }
}
