import type { Sexp } from "sexp-parser";
import { type Caller, UNWOUND } from "../caller.js";
import { backtrace, throwToToplevel } from "../commands/index.js";
import { SwankError } from "../errors.js";
import type { Binding, ErrorSnapshot, Restart, StopReason } from "../evaluation/outcome.js";
import type { StopReport } from "../runtime/decode-snapshot.js";
import type { RuntimeCalls } from "../runtime/runtime-calls.js";
import type { WireFrame } from "../wire/messages.js";
import type { ParkedThread } from "./parked-thread.js";
import { restartRefusal } from "./restart-refusal.js";

/** Milliseconds that a stopped thread has to answer a question about itself. */
const ANSWER_TIME = 30_000;

/** What a session needs to talk to its thread. */
export interface DebuggerContext {
  readonly caller: Caller;
  /** Absent when the runtime is not loaded in the image. */
  readonly calls: RuntimeCalls | undefined;
}

/**
 * One thread stopped in the debugger, at one level, until it leaves that level.
 *
 * Every method throws SwankError `STALE_SESSION` after that, without asking the image.
 */
export class DebuggerSession {
  readonly #parked: ParkedThread;
  readonly #context: DebuggerContext;
  readonly reason: StopReason;
  /** What stopped it; plain data that stays valid. */
  readonly condition: ErrorSnapshot;
  /** Variables of the first frame that is the user's own. */
  readonly locals: readonly Binding[];

  constructor(parked: ParkedThread, report: StopReport, context: DebuggerContext) {
    this.#parked = parked;
    this.#context = context;
    this.reason = report.reason;
    this.condition = report.error;
    this.locals = report.locals;
  }

  /** Swank's id of the thread. */
  get thread(): number {
    return this.#parked.thread;
  }

  /** 1 for the first stop of the thread, one more for every stop inside a stop. */
  get level(): number {
    return this.#parked.level;
  }

  get isLive(): boolean {
    return this.#parked.isLive;
  }

  /** Aborted when the thread goes on. */
  get ended(): AbortSignal {
    return this.#parked.left;
  }

  /** What the thread can be continued with, innermost first. */
  get restarts(): readonly Restart[] {
    return this.condition.restarts;
  }

  /**
   * The frames `start` (inclusive, 0 is the innermost) to `end` (exclusive).
   *
   * @throws SwankError `STALE_SESSION`, `REQUEST_TIMEOUT`
   */
  async frames(start: number, end: number): Promise<readonly WireFrame[]> {
    return backtrace.decode(await this.#ask(backtrace.encode(start, end), backtrace.name));
  }

  /**
   * Leaves the stop through a restart.
   *
   * @param index - Position in `restarts`, from 0.
   * @param values - Lisp expressions, one an argument; evaluated in the stopped thread, all of them before the restart is invoked.
   * @returns When the thread has left the stop. `Evaluation.next()` tells how it goes on.
   * @throws SwankError `NO_SUCH_RESTART`, `STALE_SESSION`, `INVALID_ARGUMENT` for a wrong number of values or a value that signals an error;
   * the thread is then still stopped as it was.
   */
  async invokeRestart(index: number, values: readonly string[] = []): Promise<void> {
    const restart = this.restarts[index];
    if (restart === undefined) throw this.#noSuchRestart(index);
    const { calls } = this.#context;
    if (calls === undefined) throw new SwankError("RUNTIME_FAILED", "Restarts need the runtime, which is not loaded in this image.");
    const reply = await this.#leave(calls.invokeRestart(this.level, index, values), `restart ${restart.name}`);
    if (reply !== UNWOUND) throw restartRefusal(reply, restart);
  }

  /**
   * Unwinds the thread to where its request began.
   *
   * @throws SwankError `STALE_SESSION`
   */
  async abort(): Promise<void> {
    await this.#leave(throwToToplevel.encode(), throwToToplevel.name);
  }

  /** Runs a form in the stopped thread, which stays as it was. */
  async #ask(form: Sexp, label: string): Promise<Sexp> {
    this.#checkLive(label);
    try {
      return await this.#context.caller.call(form, { label, thread: this.thread, timeout: ANSWER_TIME, signal: this.ended });
    } catch (error) {
      if (!this.isLive) throw this.#stale(label);
      throw error;
    }
  }

  /** Runs a form that makes the thread leave the stop; gives its value when it refuses. */
  async #leave(form: Sexp, label: string): Promise<Sexp | typeof UNWOUND> {
    this.#checkLive(label);
    try {
      const options = { label, thread: this.thread, timeout: ANSWER_TIME, signal: this.ended };
      return await this.#context.caller.callUnwinding(form, options);
    } catch (error) {
      if (!this.isLive) return UNWOUND;
      throw error;
    }
  }

  #checkLive(label: string): void {
    if (!this.isLive) throw this.#stale(label);
  }

  #stale(label: string): SwankError {
    return new SwankError("STALE_SESSION", `${label}: Thread ${this.thread} has left the stop at level ${this.level}.`);
  }

  #noSuchRestart(index: number): SwankError {
    const last = this.restarts.length - 1;
    return new SwankError("NO_SUCH_RESTART", `There is no restart ${index}; there are restarts 0 to ${last}.`);
  }
}
