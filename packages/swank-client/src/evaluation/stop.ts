import type { Sexp } from "sexp-parser";
import type { SwankError } from "../base/errors.js";
import { check, checkOptions, type OptionsOf } from "../base/options.js";
import { type Latch, type WaitOptions, waitOptions } from "../base/waiting.js";
import type { LispFunction, Place, SendOptions } from "../runtime/function.js";
import { type LispRunner, labelOf } from "../runtime/runner.js";
import type { Reply } from "../wire/messages.js";
import {
  type FrameEvaluationOptions,
  frameOptions,
  type OutcomeOf,
  type Returned,
  type StoppedOf,
  type TaskEventOf,
  type TaskOf,
} from "./evaluate.js";
import { type ErrorSnapshot, isStale, type Restart, type StopData, type StopOwner, type StopReason } from "./report.js";
import {
  abortPlainStop,
  abortStop,
  attempt,
  continueStop,
  describeForeignStop,
  endAttempt,
  evalInFrame,
  FRAMES_OF_PAGE,
  type FrameLocals,
  type FramePage,
  type FrameValue,
  frameLocals,
  frames,
  invokeRestart,
  leftStop,
  noRestart,
  restartFrame,
  returnFromFrame,
  type StepMode,
  stepOn,
  steppedElsewhere,
} from "./stop-calls.js";

const resumeOptions = {
  /** Text that the code reads next from its standard input or terminal. Then, as before, comes the end of the input. */
  stdin: check.text,
};

/** How to resume a stopped thread. */
interface ResumeOptions extends OptionsOf<typeof resumeOptions> {}

const restartOptions = { ...waitOptions, ...resumeOptions };

/** How to leave a stop through a restart. */
interface RestartOptions extends OptionsOf<typeof restartOptions> {}

/** Running code, whose stops are `Stop`s. */
export type Task<Result = unknown> = TaskOf<Stop, Result>;

/** One request to run code. */
export type Evaluation = Task<Returned>;

/** Something that a task reports while it runs: output, progress, or a stop. */
export type TaskEvent = TaskEventOf<Stop>;

/** One outcome of an evaluation: its values, a `Stop`, or its end. */
export type Outcome = OutcomeOf<Stop>;

/** The outcome of an evaluation whose thread is stopped in the debugger. */
export type Stopped = StoppedOf<Stop>;

/**
 * One thread stopped in the debugger, at one level, until it leaves that level.
 *
 * After that every method throws SwankError `STALE_SESSION` without asking the image. A method that fails leaves the stop unchanged.
 */
export class Stop {
  /** The thread's evaluation, whose `next()` returns its next outcome; `undefined` for threads that run no evaluation of this client. */
  readonly evaluation: Task | undefined;
  readonly #channel: StopChannel;
  readonly #lisp: LispRunner;
  readonly #place: Place = { send: (form, options) => this.#send(form, options) };
  #data: StopData;
  #opening: Promise<this> | undefined;

  constructor(channel: StopChannel, data: StopData, lisp: LispRunner, evaluation?: Task) {
    this.#channel = channel;
    this.#data = data;
    this.#lisp = lisp;
    this.evaluation = evaluation;
    if (data.owner === undefined) this.#opening = Promise.resolve(this);
  }

  /** Everything known about the stop: plain data that stays valid after the stop ends. */
  get data(): StopData {
    return this.#data;
  }

  /** Swank's id of the thread. */
  get thread(): number {
    return this.#data.thread;
  }

  /** 1 for the first stop of the thread, one more for every stop inside a stop. */
  get level(): number {
    return this.#data.level;
  }

  /** Why the thread stopped, e.g. `error` or `breakpoint`. */
  get reason(): StopReason {
    return this.#data.reason;
  }

  /** The condition that stopped the thread. */
  get condition(): ErrorSnapshot {
    return this.#data.condition;
  }

  /** The restarts that the stop offers, innermost first. */
  get restarts(): readonly Restart[] {
    return this.condition.restarts;
  }

  /** The client whose debugger has the thread; `undefined` if it is this client. */
  get owner(): StopOwner | undefined {
    return this.#data.owner;
  }

  /** The restart that `continue` invokes; `undefined` if the thread cannot be continued. */
  get continuation(): Restart | undefined {
    const name = this.reason === "step" ? "STEP-CONTINUE" : "CONTINUE";
    return this.restarts.find((restart) => restart.name === name);
  }

  /** False once the thread has left the stop. */
  get isLive(): boolean {
    return !this.#channel.left.isOpen;
  }

  /** True while a request to leave the stop, such as `invokeRestart`, waits for its result. */
  get isLeaving(): boolean {
    return this.#channel.isLeaving;
  }

  /** Aborted when the thread leaves the stop; for another client's thread only after a later request notices it. */
  get ended(): AbortSignal {
    return this.#channel.left.signal;
  }

  /**
   * Completes `data` of another client's stop with its reason, frames, slots and variables. Its owner notices nothing. Does nothing for a
   * stop of this client.
   *
   * @throws SwankError `STALE_SESSION`; `REQUEST_TIMEOUT` if the thread does not answer; nothing stays behind in the thread.
   */
  open(): Promise<this> {
    if (this.#opening !== undefined) return this.#opening;
    const opening = this.#open();
    this.#opening = opening;
    // A failure allows another attempt, but must not discard a newer one.
    opening.catch(() => {
      if (this.#opening === opening) this.#opening = undefined;
    });
    return opening;
  }

  /**
   * Calls a function in the stopped thread, such as one of `calls`.
   *
   * @throws SwankError `STALE_SESSION`, and the errors of `LispRunner.run`
   */
  async run<Args extends readonly unknown[], Result>(
    called: LispFunction<Args, Result>,
    ...args: Args
  ): Promise<Result> {
    this.#checkLive(labelOf(called, args));
    return this.#lisp.runAt(this.#place, called, args);
  }

  /**
   * Reads the frames from `start` (0 is the innermost, default 0) to `end` (exclusive, default `start` + 20), with their variables.
   *
   * @throws SwankError `STALE_SESSION`, `INVALID_ARGUMENT`
   */
  async frames(start = 0, end = start + FRAMES_OF_PAGE): Promise<FramePage> {
    check.index("start", start);
    check.index("end", end);
    return this.run(frames, this.level, start, Math.max(start, end));
  }

  /** Reads a frame's variables and catch tags. @throws SwankError `STALE_SESSION`, `NO_SUCH_FRAME` */
  async frameLocals(frame: number): Promise<FrameLocals> {
    check.index("frame", frame);
    return this.run(frameLocals, this.level, frame);
  }

  /**
   * Evaluates code in a frame. The code can read and set the frame's variables, but does not see handlers and restarts of the stopped code. On ECL it
   * gets copies of the variables: what it sets, the frame does not get, and `stderr` says so.
   *
   * @param options - Timeout (default 30 s), signal, `package`, `valueLimit` and `valuesAs`.
   * @throws SwankError `STALE_SESSION`, `NO_SUCH_FRAME`, `NO_SUCH_PACKAGE`, `FRAME_EVALUATION_FAILED` with the code's error,
   * `FRAME_EVALUATION_TIMEOUT`, `CANCELLED`, `INVALID_ARGUMENT`
   */
  async evaluateInFrame(frame: number, code: string, options: FrameEvaluationOptions = {}): Promise<FrameValue> {
    checkOptions("evaluateInFrame", options, frameOptions);
    const { package: packageName, valueLimit, valuesAs, ...wait } = options;
    check.index("frame", frame);
    check.text("code", code);
    if (valuesAs === "ids") this.#lisp.abilities?.require("inspect", `Evaluating in frame ${frame}`);
    const value = await this.#attempt(
      evalInFrame,
      (token) => [this.level, frame, token, code, packageName, valuesAs === "ids" ? valuesAs : valueLimit],
      wait,
    );
    if (value === undefined) throw this.#stale(`Evaluating in frame ${frame}`);
    return value;
  }

  /**
   * Leaves the stop through a restart.
   *
   * @param index - Position in `restarts`, from 0.
   * @param values - Lisp expressions, one for each argument. The stopped thread evaluates them all in the stop's package before it invokes
   * the restart.
   * @param options - Timeout (default 30 s) and signal for the evaluation of `values`; `stdin`, text for a restart that asks, or for the code
   * after it. The `values` of ASSERT's CONTINUE are those of its places.
   * @returns After the thread has left the stop. `Evaluation.next()` returns the next outcome.
   * @throws SwankError `NO_SUCH_RESTART`, `STALE_SESSION`, `INVALID_ARGUMENT` for a wrong number of values or a value that signals an error,
   * `FRAME_EVALUATION_TIMEOUT`, `CANCELLED`
   */
  async invokeRestart(index: number, values: readonly string[] = [], options: RestartOptions = {}): Promise<void> {
    checkOptions("invokeRestart", options, restartOptions);
    const { stdin, ...wait } = options;
    const restart = this.restarts.find((offered) => offered.index === index);
    if (restart === undefined) throw noRestart(index, this.restarts.length);
    await this.#attempt(invokeRestart, (token) => [this.level, restart, token, values, stdin], wait);
  }

  /**
   * Calls the frame's function again, as it is defined now, with the frame's arguments. A local function, a lambda expression and a method
   * that others run around are refused, with the outer frame to restart instead.
   *
   * @throws SwankError `STALE_SESSION`, `NO_SUCH_FRAME`, `NOT_RESTARTABLE`
   */
  async restartFrame(frame: number): Promise<void> {
    check.index("frame", frame);
    await this.run(restartFrame, this.level, frame);
  }

  /**
   * Returns from a frame with the values of `code`, which is evaluated in that frame. Local functions and lambda expressions are refused.
   *
   * @param options - Timeout (default 30 s) and signal for the evaluation of `code`.
   * @throws SwankError `STALE_SESSION`, `NO_SUCH_FRAME`, `NOT_RESTARTABLE`, `FRAME_EVALUATION_FAILED`, `FRAME_EVALUATION_TIMEOUT`, `CANCELLED`
   */
  async returnFromFrame(frame: number, code: string, options: WaitOptions = {}): Promise<void> {
    checkOptions("returnFromFrame", options, waitOptions);
    check.index("frame", frame);
    check.text("code", code);
    await this.#attempt(returnFromFrame, (token) => [this.level, frame, token, code], options);
  }

  /**
   * Resumes the thread as if it had not stopped. At an error it invokes the restart CONTINUE, whose effect depends on the code.
   *
   * @param options - `stdin`: text that the code reads next.
   * @throws SwankError `STALE_SESSION`, `NO_SUCH_RESTART` if an error offers no CONTINUE, `INVALID_ARGUMENT` if CONTINUE takes values, or if
   * the thread runs no evaluation and cannot be given `stdin`.
   */
  async continue(options: ResumeOptions = {}): Promise<void> {
    checkOptions("continue", options, resumeOptions);
    await this.run(continueStop, this.level, options.stdin);
  }

  /**
   * Steps into the next call, over it, or out of the function that was stepped into. The code must be compiled for debugging.
   *
   * @param options - `stdin`: text that the code reads next.
   * @throws SwankError `STALE_SESSION`, `NOT_STEPPABLE`, always for a stop in another client's debugger; `INVALID_ARGUMENT`
   */
  async step(mode: StepMode, options: ResumeOptions = {}): Promise<void> {
    checkOptions("step", options, resumeOptions);
    if (this.owner !== undefined) throw steppedElsewhere(this.thread, this.owner);
    await this.run(stepOn, this.level, mode, options.stdin);
  }

  /**
   * Unwinds the thread to where its request began; a thread without a request ends.
   *
   * @throws SwankError `STALE_SESSION`; `REQUEST_ABORTED`, `NO_SUCH_RESTART` if the thread is still stopped as before
   */
  async abort(): Promise<void> {
    await this.run(this.#lisp.hasLoaded("evaluate") ? abortStop : abortPlainStop);
  }

  /** Aborts the thread at the end of an `await using` block, if it is still stopped here. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.isLive) await this.abort();
  }

  async #open(): Promise<this> {
    this.#data = { ...this.#data, ...(await this.run(describeForeignStop)) };
    return this;
  }

  /** Evaluates a caller's expressions with a timeout. */
  async #attempt<Args extends readonly [level: number, of: unknown, attempt: string, ...rest: unknown[]], Result>(
    called: LispFunction<Args, Result>,
    given: (token: string) => Args,
    wait: WaitOptions,
  ): Promise<Result> {
    const label = labelOf(called, given(""));
    this.#checkLive(label);
    const expressions = {
      label,
      start: (token: string) =>
        this.#lisp.runAt(this.#place, called, given(token), { timeout: Number.POSITIVE_INFINITY }),
      interrupt: (token: string) => this.#lisp.run(endAttempt, this.thread, token),
    };
    return attempt(expressions, wait);
  }

  /** All that is asked of the stop comes through here. */
  async #send(form: Sexp, options: SendOptions): Promise<Reply> {
    this.#checkLive(options.label);
    const reply = await this.#channel.send(form, options).catch((error: unknown) => {
      throw this.isLive ? error : this.#stale(options.label);
    });
    if (isStale(reply)) throw this.#stale(options.label);
    return reply;
  }

  #checkLive(label: string): void {
    if (!this.isLive) throw this.#stale(label);
  }

  #stale(label: string): SwankError {
    return leftStop(label, this.#data);
  }
}

/** The channel to one stop of one thread; it closes permanently when the thread leaves the stop. */
export interface StopChannel extends Place {
  /** Opens when the thread has left the stop. */
  readonly left: Latch;
  /** True while a request that may make the thread leave is under way. */
  readonly isLeaving: boolean;
}
