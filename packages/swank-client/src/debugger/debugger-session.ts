import type { Sexp } from "sexp-parser";
import { UNWOUND } from "../caller.js";
import { checkIndex, shownIndex } from "../check-index.js";
import { checkOptions, checkText } from "../check-options.js";
import { throwToToplevel } from "../commands/index.js";
import { decodeValue } from "../decode-value.js";
import { SwankError } from "../errors.js";
import { checkLimit } from "../evaluation/evaluate-options.js";
import type { Evaluation } from "../evaluation/evaluation.js";
import type { Binding, ErrorSnapshot, Restart, StopDetail, StopReason } from "../evaluation/outcome.js";
import { WAIT_OPTIONS, type WaitOptions } from "../evaluation/outcome-slot.js";
import type { DebuggerCalls, StepMode } from "../runtime/debugger-calls.js";
import { type FrameReply, frameLocals, framePage, frameRefusal, frameValue } from "../runtime/decode-frames.js";
import type { StopReport } from "../runtime/decode-snapshot.js";
import type { RuntimeInstaller } from "../runtime/installer.js";
import { attempt } from "./attempt.js";
import type { FrameEvaluationOptions, FrameLocals, FramePage, FrameValue } from "./frame.js";
import { abortError, frameAnswer, frameError, restartError, resumeError, steppedElsewhere } from "./refusals.js";
import type { StopChannel } from "./stop-channel.js";
import type { StopOwner } from "./stop-owner.js";

/** Frames of a page when nothing else is asked for. */
const PAGE_SIZE = 20;

/** Who has to do with a stop. */
export interface StopRelations {
  readonly evaluation?: Evaluation | undefined;
  readonly owner?: StopOwner | undefined;
}

/**
 * One thread stopped in the debugger, at one level, until it leaves that level.
 *
 * Every method throws SwankError `STALE_SESSION` after that, without asking the image. A method that fails leaves the stop as it was.
 */
export class DebuggerSession {
  readonly reason: StopReason;
  readonly detail: StopDetail;
  /** What stopped it; plain data that stays valid. */
  readonly condition: ErrorSnapshot;
  /** Variables of the first frame that is the user's own. */
  readonly locals: readonly Binding[];
  /** Whose thread it is, and whose `next()` tells how it goes on; `undefined` for threads that evaluate nothing of this client. */
  readonly evaluation: Evaluation | undefined;
  /** True for a thread that code of this client started. */
  readonly isOwn: boolean;
  /** Whose debugger it stands in; `undefined` if it is this client's. */
  readonly owner: StopOwner | undefined;
  readonly #channel: StopChannel;
  readonly #installer: RuntimeInstaller;

  constructor(
    channel: StopChannel,
    report: StopReport,
    installer: RuntimeInstaller,
    { evaluation, owner }: StopRelations,
  ) {
    this.#channel = channel;
    this.#installer = installer;
    this.evaluation = evaluation;
    this.owner = owner;
    this.isOwn = report.isOwn;
    this.reason = report.reason;
    this.detail = report.detail;
    this.condition = report.error;
    this.locals = report.locals;
  }

  /** Swank's id of the thread. */
  get thread(): number {
    return this.#channel.thread;
  }

  /** 1 for the first stop of the thread, one more for every stop inside a stop. */
  get level(): number {
    return this.#channel.level;
  }

  get isLive(): boolean {
    return this.#channel.isLive;
  }

  /** Aborted when the thread goes on. */
  get ended(): AbortSignal {
    return this.#channel.ended;
  }

  /** What the thread can be continued with, innermost first. */
  get restarts(): readonly Restart[] {
    return this.condition.restarts;
  }

  /** The restart that `continue` invokes; `undefined` where there is no way on. */
  get continuation(): Restart | undefined {
    const name = this.reason === "step" ? "STEP-CONTINUE" : "CONTINUE";
    return this.restarts.find((restart) => restart.name === name);
  }

  /**
   * The frames `start` (0 is the innermost, default 0) to `end` (exclusive, default `start` + 20), with their variables.
   *
   * @throws SwankError `STALE_SESSION`, `INVALID_ARGUMENT`
   */
  async frames(start = 0, end = start + PAGE_SIZE): Promise<FramePage> {
    checkIndex("start", start);
    checkIndex("end", end);
    return this.#inFrame(start, "frames", (calls) => calls.frames(this.level, start, Math.max(start, end)), framePage);
  }

  /** @throws SwankError `STALE_SESSION`, `NO_SUCH_FRAME` */
  async frameLocals(frame: number): Promise<FrameLocals> {
    checkIndex("frame", frame);
    return this.#inFrame(frame, "frame locals", (calls) => calls.frameLocals(this.level, frame), frameLocals);
  }

  /**
   * Evaluates code where the frame's variables are visible and can be set, in the package of the frame's function. Handlers and restarts
   * of the stopped code are out of its reach.
   *
   * @param options - When to break it off; default after 30 s.
   * @throws SwankError `STALE_SESSION`, `NO_SUCH_FRAME`, `FRAME_EVALUATION_FAILED` with what the code signalled, `FRAME_EVALUATION_TIMEOUT`,
   * `CANCELLED`, `INVALID_ARGUMENT`
   */
  async evaluateInFrame(frame: number, code: string, options: FrameEvaluationOptions = {}): Promise<FrameValue> {
    checkOptions("evaluateInFrame", options, { ...WAIT_OPTIONS, valueLimit: true });
    const { valueLimit } = options;
    checkIndex("frame", frame);
    checkText("code", code);
    if (valueLimit !== undefined) checkLimit("valueLimit", valueLimit);
    const label = `Evaluating in frame ${frame}`;
    const calls = await this.#debuggerCalls(label);
    const form = (attempt: string) => calls.evalInFrame(this.level, frame, attempt, code, valueLimit);
    const reply = await this.#attempt(form, label, options);
    if (reply === UNWOUND) throw this.#channel.stale(label);
    return frameAnswer(decodeValue(frameValue, reply, label), frame, this.#channel);
  }

  /**
   * Leaves the stop through a restart.
   *
   * @param index - Position in `restarts`, from 0.
   * @param values - Lisp expressions, one an argument; evaluated in the stopped thread and the stop's package, all of them before the restart
   * is invoked.
   * @param options - When to break their evaluation off; default after 30 s.
   * @returns When the thread has left the stop. `Evaluation.next()` tells how it goes on.
   * @throws SwankError `NO_SUCH_RESTART`, `STALE_SESSION`, `INVALID_ARGUMENT` for a wrong number of values or a value that signals an error,
   * `FRAME_EVALUATION_TIMEOUT`, `CANCELLED`
   */
  async invokeRestart(index: number, values: readonly string[] = [], options: WaitOptions = {}): Promise<void> {
    checkOptions("invokeRestart", options, WAIT_OPTIONS);
    const restart = this.restarts.find((offered) => offered.index === index);
    if (restart === undefined) throw this.#noSuchRestart(index);
    const calls = await this.#installer.evaluate();
    const form = (attempt: string) => calls.invokeRestart(this.level, index, attempt, values);
    const reply = await attempt(this.#channel, calls, form, `Restart ${restart.name}`, options);
    if (reply !== UNWOUND) throw restartError(reply, restart, this.#channel);
  }

  /**
   * Calls the frame's function again, as it is defined now, with the frame's arguments.
   *
   * @throws SwankError `STALE_SESSION`, `NO_SUCH_FRAME`, `NOT_RESTARTABLE`
   */
  async restartFrame(frame: number): Promise<void> {
    checkIndex("frame", frame);
    const label = `Restarting frame ${frame}`;
    const calls = await this.#debuggerCalls(label);
    const reply = await this.#channel.leave(calls.restartFrame(this.level, frame), label);
    if (reply !== UNWOUND) throw frameError(decodeValue(frameRefusal, reply, label), frame, this.#channel);
  }

  /**
   * Returns the values of `code`, evaluated in the frame, from it.
   *
   * @param options - When to break the evaluation off; default after 30 s.
   * @throws SwankError `STALE_SESSION`, `NO_SUCH_FRAME`, `NOT_RESTARTABLE`, `FRAME_EVALUATION_FAILED`, `FRAME_EVALUATION_TIMEOUT`, `CANCELLED`
   */
  async returnFromFrame(frame: number, code: string, options: WaitOptions = {}): Promise<void> {
    checkOptions("returnFromFrame", options, WAIT_OPTIONS);
    checkIndex("frame", frame);
    checkText("code", code);
    const label = `Returning from frame ${frame}`;
    const calls = await this.#debuggerCalls(label);
    const form = (attempt: string) => calls.returnFromFrame(this.level, frame, attempt, code);
    const reply = await this.#attempt(form, label, options);
    if (reply !== UNWOUND) throw frameError(decodeValue(frameRefusal, reply, label), frame, this.#channel);
  }

  /**
   * Goes on as if it had not stopped. From an error this is what its restart CONTINUE does, whatever that is.
   *
   * @throws SwankError `STALE_SESSION`, `NO_SUCH_RESTART` where an error offers no way on, `INVALID_ARGUMENT` where that takes values.
   */
  async continue(): Promise<void> {
    await this.#resume("continue", (calls) => calls.continue(this.level));
  }

  /**
   * Goes on to the next call, over it, or out of the function stepped into. Code must be compiled for debugging to be stepped.
   *
   * @throws SwankError `STALE_SESSION`, `NOT_STEPPABLE`; the latter always in another client's debugger
   */
  async step(mode: StepMode): Promise<void> {
    if (this.owner !== undefined) throw steppedElsewhere(this.thread, this.owner);
    await this.#resume(`step ${mode}`, (calls) => calls.step(this.level, mode));
  }

  /**
   * Unwinds the thread to where its request began; a thread without a request ends.
   *
   * @throws SwankError `STALE_SESSION`; `REQUEST_ABORTED`, `NO_SUCH_RESTART` when it is still stopped as it was
   */
  async abort(): Promise<void> {
    const form = this.#installer.loaded?.abortStop() ?? throwToToplevel.encode();
    const reply = await this.#channel.leave(form, throwToToplevel.name);
    if (reply !== UNWOUND) throw abortError(reply, this.#channel);
  }

  async #inFrame<Value>(
    frame: number,
    label: string,
    form: (calls: DebuggerCalls) => Sexp,
    decode: (datum: Sexp) => FrameReply<Value>,
  ): Promise<Value> {
    const calls = await this.#debuggerCalls(label);
    const reply = await this.#channel.ask(form(calls), label);
    return frameAnswer(decodeValue(decode, reply, label), frame, this.#channel);
  }

  async #attempt(form: (attempt: string) => Sexp, label: string, options: WaitOptions): Promise<Sexp | typeof UNWOUND> {
    return attempt(this.#channel, await this.#installer.evaluate(), form, label, options);
  }

  async #resume(label: string, form: (calls: DebuggerCalls) => Sexp): Promise<void> {
    const reply = await this.#channel.leave(form(await this.#debuggerCalls(label)), label);
    if (reply !== UNWOUND) throw resumeError(reply, this.#channel);
  }

  async #debuggerCalls(label: string): Promise<DebuggerCalls> {
    if (!this.isLive) throw this.#channel.stale(label);
    return this.#installer.debugger();
  }

  #noSuchRestart(index: number): SwankError {
    const last = this.restarts.length - 1;
    return new SwankError(
      "NO_SUCH_RESTART",
      `There is no restart ${shownIndex(index)}; there are restarts 0 to ${last}.`,
    );
  }
}
