import { setTimeout as pause } from "node:timers/promises";
import type { Abilities } from "../base/abilities.js";
import { SwankError, type SwankErrorCode, type SwankErrorOptions } from "../base/errors.js";
import {
  type CallLimits,
  isLimit,
  Latch,
  type Limit,
  OutcomeSlot,
  onLimit,
  type Producer,
  type WaitOptions,
  within,
} from "../base/waiting.js";
import { type HeldLock, heldLockText, isSameHold } from "../runtime/caller.js";
import type {
  Aborted,
  BareOutcome,
  EvaluateOptions,
  Lost,
  OutcomeOf,
  Returned,
  StopOfTask,
  TaskEventOf,
  TaskOf,
  Transcript,
} from "./evaluate.js";
import { EventFeed, type EventSource } from "./events.js";
import type { ErrorSnapshot, OutputChunk, OutputStream, SessionUpdate } from "./report.js";
import { type SessionState, TranscriptRecorder } from "./transcript.js";

/** An error of code after it was sent: the code signalled an error, stopped, took too long, was cancelled, or its image was lost. */
export class EvaluationError extends SwankError {
  override readonly name: string = "EvaluationError";
  /** The output and the warnings up to the error. */
  readonly transcript: Transcript;

  constructor(code: SwankErrorCode, message: string, transcript: Transcript, options: SwankErrorOptions = {}) {
    super(code, message, options);
    this.transcript = transcript;
  }
}

/** An error in Lisp code that `eval` or a task ran, with code `LISP_ERROR`. Its message is the condition's type and report. */
export class LispError extends EvaluationError {
  override readonly name = "LispError";
  /** The condition with its restarts, slots and frames, as they were before the stack was unwound. */
  readonly report: ErrorSnapshot;

  constructor(report: ErrorSnapshot, transcript: Transcript) {
    super("LISP_ERROR", `${report.type}: ${report.message}`, transcript);
    this.report = report;
  }
}

/** The error of a caller that waits for a result, and cannot know whether the stop will be resumed. */
export function stoppedError({ thread, condition }: StopOfTask, transcript: Transcript): EvaluationError {
  const cause = new LispError(condition, transcript);
  const message = `The code is stopped in thread ${thread}: ${cause.message}`;
  return new EvaluationError("EVALUATION_STOPPED", message, transcript, { cause });
}

/** The reason for which code was ended at a limit. */
export function limitError(limit: Limit, { timeout, signal }: EvaluateOptions): SwankError {
  return limit === "signal"
    ? new SwankError("CANCELLED", "The code was cancelled.", { cause: signal?.reason })
    : new SwankError("EVALUATION_TIMEOUT", `The code took longer than ${timeout} ms.`);
}

/** The error for code that was to be ended at a limit, and runs on. */
export function endlessError(limit: SwankError, transcript: Transcript): EvaluationError {
  const error = new SwankError(limit.code, `${limit.message} It could not be ended, and continues.`);
  return withTranscript(error, transcript, limit.cause);
}

/**
 * The last outcome, if the code has returned.
 *
 * @param limit - The reason for which the code was ended, if it reached a limit.
 * @throws EvaluationError
 */
export function returnedOf(outcome: OutcomeOf<StopOfTask>, limit: SwankError | undefined): Returned {
  switch (outcome.status) {
    case "returned":
      return outcome;
    case "lost":
      throw withTranscript(outcome.cause, outcome);
    case "aborted":
      throw endOf(outcome, limit);
    case "stopped":
      throw stoppedError(outcome.stop, outcome);
  }
}

/** A limit is the reason even if a cleanup form failed then. */
function endOf(outcome: Aborted, limit: SwankError | undefined): EvaluationError {
  const error = outcome.error && new LispError(outcome.error, outcome);
  if (limit === undefined) {
    return error ?? new EvaluationError("REQUEST_ABORTED", "The code was ended from outside.", outcome);
  }
  return withTranscript(limit, outcome, error ?? limit.cause);
}

/** The error of code that was sent, with its transcript. */
export function withTranscript(error: SwankError, transcript: Transcript, cause = error.cause): EvaluationError {
  const { code, message, remedy, details } = error;
  return new EvaluationError(code, message, transcript, { remedy, details, cause });
}

/** An evaluation's calls in the image. Each returns the id of its thread, or `undefined` before it has begun and after it has ended. */
export interface EvaluationControl {
  interrupt(id: number, count: number): Promise<number | undefined>;
  abort(id: number): Promise<number | undefined>;
  kill(id: number): Promise<number | undefined>;
  /** The lock that it waits for now; `undefined` if there is none or that is not known. Never rejects. */
  awaitedLock(id: number): Promise<HeldLock | undefined>;
  /** Ends its request, of which the image may not know yet that it is an evaluation. Never rejects. */
  end(id: number): Promise<void>;
  /** What the image can do; `undefined` where that is not known. */
  readonly abilities: Abilities | undefined;
  /** Closes the connection because code cannot be ended in any other way. */
  giveUp(reason: SwankError): void;
}

/**
 * Milliseconds between attempts to unwind an evaluation, before its thread is killed. In the first second, the image leaves an evaluation that
 * unwinds to its cleanup forms (lisp/evaluate/control.lisp); an attempt then only makes up for one that was lost.
 */
const ABORT_PAUSES = [250, 250, 600, 250, 250] as const;

/** Milliseconds between repetitions of an interrupt. */
const INTERRUPT_PAUSES = [50, 100, 200, 400, 800] as const;

/** Milliseconds within which a request to the stopped thread must take effect. */
const LEAVE_PAUSE = 250;

/** Milliseconds within which an evaluation that waits for a lock must unwind. */
const UNWIND_PAUSE = 5000;

/** Milliseconds within which killing the thread must take effect. */
const KILL_PAUSE = 1000;

/** Milliseconds within which an evaluation that was not sent must end. */
const CANCEL_PAUSE = 1000;

/** Milliseconds between two looks at what an evaluation that has not begun waits for. */
const LOCK_PAUSE = 300;

/** Milliseconds between checks whether a request has begun, and the number of checks. */
const START_PAUSE = 20;

const START_ATTEMPTS = 100;

/** Milliseconds after which it is checked again whether a stopped thread is still being resumed. */
const LEAVING_PAUSE = 100;

type Listeners = Pick<EvaluateOptions, "onOutput" | "onProgress" | "outputLimit">;

/** Running code, with the methods for the runner besides those for the caller. */
export class EvaluationTask<Stop extends StopOfTask, Result> implements TaskOf<Stop, Result>, EventSource<Stop> {
  readonly id: number;
  readonly #control: EvaluationControl;
  readonly #listeners: Listeners;
  readonly #resultOf: (outcome: Returned) => Result | Promise<Result>;
  readonly #slot = new OutcomeSlot<OutcomeOf<Stop>>();
  readonly #recorder: TranscriptRecorder;
  /** Opens when it has ended. */
  readonly #settled = new Latch();
  /** Readers of the events; `undefined` for most evaluations. */
  #feeds: Set<EventFeed<Stop>> | undefined;
  /** Opens when something changes; `undefined` unless a reader or a caller of `result` waits. */
  #changed: Latch | undefined;
  /** The limit because of which it was to be ended. */
  #limit: SwankError | undefined;
  /** True if it runs on nevertheless. */
  #isEndless = false;
  /** Its last outcome with a copy of the output, if it did not return. */
  #failed: Producer<Aborted | Lost> | undefined;
  #interrupts = 0;
  #awaitedLock: string | undefined;
  /** Its live stops, the innermost last: a stopped thread that is interrupted stops once more. */
  #stops: readonly Stop[] = [];
  #thread: number | undefined;
  /** When the request was sent, or the thread last resumed. */
  #began: number | undefined;
  /** Gives up what the request waits for before it is sent. */
  #cancel: (() => void) | undefined;
  /** True if it was aborted before it was sent. */
  #isWithdrawn = false;
  /** Milliseconds of the waits for the user that have ended, and the beginning of the one that has not. */
  #userWait = 0;
  #waitBegan: number | undefined;

  constructor(
    id: number,
    control: EvaluationControl,
    session: SessionState,
    listeners: Listeners,
    resultOf: (outcome: Returned) => Result | Promise<Result>,
  ) {
    this.id = id;
    this.#control = control;
    this.#resultOf = resultOf;
    this.#recorder = new TranscriptRecorder(session, listeners.outputLimit);
    this.#listeners = listeners;
  }

  get stop(): Stop | undefined {
    return this.#stops.findLast(({ isLive }) => isLive);
  }

  get thread(): number | undefined {
    return this.#thread;
  }

  get isSent(): boolean {
    return this.#began !== undefined;
  }

  get awaitedLock(): string | undefined {
    return this.#awaitedLock;
  }

  get isSettled(): boolean {
    return this.#settled.isOpen;
  }

  get userWait(): number {
    return this.#userWait + (this.#waitBegan === undefined ? 0 : performance.now() - this.#waitBegan);
  }

  async begun(limits: WaitOptions = {}): Promise<boolean> {
    const begun = async () => {
      while (!this.isSent && !this.isSettled) await this.change();
      return true;
    };
    return (await within(begun(), limits)) ?? false;
  }

  next(options: WaitOptions = {}): Promise<OutcomeOf<Stop>> {
    return this.#slot.take(options);
  }

  async result(): Promise<Result> {
    while (!this.isSettled) {
      if (this.#limit !== undefined && this.isGivenUp) throw endlessError(this.#limit, this.#copyTranscript());
      if (this.stop !== undefined && this.staysStopped) throw stoppedError(this.stop, this.#copyTranscript());
      await this.change();
    }
    const outcome = this.#failed === undefined ? await this.next() : this.#failed();
    return this.#resultOf(returnedOf(outcome, this.#limit));
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<TaskEventOf<Stop>, undefined> {
    const past = this.#recorder.pieces().map(outputEvent);
    const stopped = this.stop === undefined ? [] : [{ type: "stopped", stop: this.stop } as const];
    const feed = new EventFeed<Stop>(this, [...past, ...stopped], (left) => {
      this.#feeds?.delete(left);
      this.#tell();
    });
    if (!this.isSettled) {
      this.#feeds ??= new Set();
      this.#feeds.add(feed);
    }
    return feed;
  }

  get isGivenUp(): boolean {
    return this.#isEndless;
  }

  get staysStopped(): boolean {
    return this.stop !== undefined && !this.stop.isLeaving;
  }

  change(): Promise<void> {
    this.#changed ??= new Latch();
    // Nothing reports that a request to leave the stop has failed.
    return this.#changed.within(this.stop?.isLeaving === true ? LEAVING_PAUSE : Number.POSITIVE_INFINITY);
  }

  async interrupt(): Promise<boolean> {
    this.#interrupts += 1;
    const count = this.#interrupts;
    // The interrupt ends the wait, which cannot be seen in the stack of the stop if Lisp's own functions wait.
    const lock = this.stop === undefined ? await this.#control.awaitedLock(this.id) : undefined;
    this.#awaitedLock = lock && heldLockText(lock);
    while (!this.isSettled && !this.staysStopped) {
      if (this.stop === undefined && (await this.#isKnown(this.#control.interrupt(this.id, count)))) {
        void this.#insist(count);
        return true;
      }
      if (this.#thread === undefined && (await this.#lastingWait(lock))) {
        // It waits before its first form, and could not stop there.
        await this.#control.end(this.id);
        return !this.isSettled;
      }
      await pause(START_PAUSE);
    }
    return false;
  }

  async abort(): Promise<OutcomeOf<Stop>> {
    await this.#end();
    return this.next();
  }

  /** Ends it without taking the outcome. @throws as `abort` */
  async #end(): Promise<void> {
    let failure: unknown;
    if (!this.isSent && this.#cancel !== undefined) {
      this.#isWithdrawn = true;
      this.#cancel();
      await this.#settled.within(CANCEL_PAUSE);
    }
    if (this.#isUnstoppable && this.isSent && this.stop === undefined && !this.isSettled) {
      this.#giveUp(new SwankError("CANCELLED", "The evaluation was to be aborted."));
      await this.#settled.within(CANCEL_PAUSE);
    }
    for (const { end, patience } of this.#waysToEnd()) {
      if (this.isSettled) break;
      failure = await end().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      await this.#settled.within(patience);
    }
    if (this.isSettled) return;
    throw (
      failure ??
      new SwankError("WAIT_TIMEOUT", "The evaluation could not be aborted: it runs without interrupts and continues.")
    );
  }

  /** Aborts it, and waits a while for its end. */
  async unwind(): Promise<void> {
    await this.#unwind().catch(() => undefined);
    await this.#settled.within(UNWIND_PAUSE);
  }

  takeTranscript(): Transcript {
    return this.#recorder.take(this.#elapsed());
  }

  /** The transcript of an error, which leaves the output to the next outcome. */
  #copyTranscript(): Transcript {
    return this.#recorder.copy(this.#elapsed());
  }

  /** The request waits for the runtime to be loaded. `cancel` ends that wait, and the request is not sent. */
  waitsForRuntime(cancel: () => void): void {
    this.#cancel = cancel;
  }

  /** The request has been sent. The time to load the runtime is not the evaluation's. */
  sent(): void {
    this.#began = performance.now();
    this.#tell();
  }

  /** Interrupts it after its `timeout`, or ends it if nothing may stop, and ends it when its `signal` is aborted. */
  reached(limit: Limit, options: EvaluateOptions): void {
    if (this.#isUnstoppable) {
      if (this.stop === undefined) this.#giveUp(limitError(limit, options));
      return;
    }
    if (limit === "timeout" && options.onError !== "unwind") {
      // If the image does not do it, the caller learns that from `abort` or from the lost connection.
      void this.interrupt().catch(() => undefined);
      return;
    }
    this.#limit ??= limitError(limit, options);
    this.#end().catch(() => {
      this.#isEndless = true;
      this.#tell();
    });
  }

  /** Adds output. `omittedBefore` characters are missing before it. */
  output(stream: OutputStream, text: string, omittedBefore: number): void {
    this.#recorder.write(stream, text, omittedBefore);
    const chunk = omittedBefore === 0 ? { stream, text } : { stream, text, omittedBefore };
    this.#listeners.onOutput?.(chunk);
    if (this.#feeds !== undefined) this.#tell(outputEvent(chunk));
  }

  /** It has begun to wait for the user, or goes on. */
  waits(isWaiting: boolean): void {
    this.#userWait = this.userWait;
    this.#waitBegan = isWaiting ? performance.now() : undefined;
  }

  progress(text: string): void {
    this.#listeners.onProgress?.(text);
    this.#tell({ type: "progress", text });
  }

  /** Adds the session's changes since the last report. */
  report(update: SessionUpdate): void {
    this.#recorder.report(update);
  }

  /** @param left - Opens when the thread leaves the stop. */
  stopped(stop: Stop, left: Latch): void {
    this.#stops = [...this.#stops.filter(({ isLive }) => isLive), stop];
    this.#thread = stop.thread;
    this.#recorder.endLeg();
    left.onOpen(() => this.#resumed());
    this.#slot.put(this.#outcome({ status: "stopped", stop }));
    this.#tell({ type: "stopped", stop });
  }

  ended(verdict: Exclude<BareOutcome<Stop>, { status: "stopped" }>): void {
    const milliseconds = this.#elapsed();
    if (verdict.status !== "returned") {
      this.#failed = () => Object.assign({}, verdict, this.#recorder.copy(milliseconds));
    }
    this.#slot.putLast(this.#outcome(verdict));
    this.#settle();
  }

  /** It never ran. */
  refused(error: SwankError): void {
    const reason = this.#isWithdrawn ? this.#limit : error;
    if (reason === undefined) this.ended({ status: "aborted" });
    else {
      this.#slot.fail(reason);
      this.#settle();
    }
  }

  /** The transcript is added to the outcome when that is taken. */
  #outcome(verdict: BareOutcome<Stop>): Producer<OutcomeOf<Stop>> {
    const milliseconds = this.#elapsed();
    // V8 makes a dictionary of the result of two spreads, which takes thirty times as long.
    return () => Object.assign({}, verdict, this.#recorder.take(milliseconds));
  }

  #resumed(): void {
    this.#slot.drop();
    this.#recorder.beginLeg();
    this.#began = performance.now();
    this.#tell();
  }

  #elapsed(): number | undefined {
    return this.#began === undefined ? undefined : performance.now() - this.#began;
  }

  #settle(): void {
    this.#settled.open();
    this.#tell();
    this.#feeds = undefined;
  }

  /** Adds an event for all readers, and wakes whatever waits for a change. */
  #tell(event?: TaskEventOf<Stop>): void {
    if (event !== undefined && this.#feeds !== undefined) for (const feed of this.#feeds) feed.add(event);
    const changed = this.#changed;
    this.#changed = undefined;
    changed?.open();
  }

  /** True if it waits for the compiler's lock longer than SBCL holds that for a moment. */
  async #lastingWait(lock: HeldLock | undefined): Promise<boolean> {
    if (lock?.isCompilers !== true) return false;
    await this.#settled.within(LOCK_PAUSE);
    const later = await this.#control.awaitedLock(this.id);
    return later !== undefined && isSameHold(lock, later);
  }

  /** Repeats the interrupt until the evaluation stops or ends, because an interrupt is lost if the thread is leaving a stop. */
  async #insist(count: number): Promise<void> {
    const before = this.#stops;
    for (const wait of INTERRUPT_PAUSES) {
      await pause(wait, undefined, { ref: false });
      if (this.isSettled || this.#stops !== before) return;
      await this.#control.interrupt(this.id, count).catch(() => undefined);
    }
  }

  /** True if nothing can end or stop its code while that runs. */
  get #isUnstoppable(): boolean {
    return this.#control.abilities?.has("interrupt") === false;
  }

  /** Without a thread that could be interrupted, only the connection can be ended. The evaluation is lost then. */
  #giveUp({ message, cause }: SwankError): void {
    const { implementation = "The Lisp" } = this.#control.abilities ?? {};
    const what = `${message} ${implementation} cannot interrupt it, so the connection was closed.`;
    const details = { ability: "interrupt", implementation } as const;
    const remedy = "Connect again when the code has ended. If the Lisp then does not answer, start it again.";
    this.#control.giveUp(new SwankError("NOT_SUPPORTED", what, { cause, remedy, details }));
  }

  /** Ways to end the evaluation, the gentlest first, with the milliseconds that each may take. */
  *#waysToEnd(): Generator<{ end: () => Promise<void>; patience: number }> {
    // Some of the other Lisps do not interrupt a thread that waits in the debugger.
    const stopped = this.#control.abilities?.kind === "portable" ? this.stop : undefined;
    if (stopped !== undefined) yield { end: () => leave(stopped), patience: CANCEL_PAUSE };
    if (this.#isUnstoppable) return;
    for (const patience of ABORT_PAUSES) {
      yield { end: () => this.#unwind(), patience };
      if (this.#thread === undefined) yield { end: () => this.#control.end(this.id), patience };
    }
    const stop = this.stop;
    if (stop !== undefined) yield { end: () => leave(stop), patience: LEAVE_PAUSE };
    yield { end: () => this.#kill(), patience: KILL_PAUSE };
  }

  /** Repeats a call until the image knows the evaluation, because the request may not have begun. */
  async #unwind(): Promise<void> {
    for (let attempt = 0; attempt < START_ATTEMPTS && !this.isSettled; attempt += 1) {
      if (await this.#isKnown(this.#control.abort(this.id))) return;
      await this.#settled.within(START_PAUSE);
    }
  }

  async #isKnown(asked: Promise<number | undefined>): Promise<boolean> {
    const thread = await asked;
    this.#thread ??= thread;
    return thread !== undefined;
  }

  async #kill(): Promise<void> {
    await this.#control.kill(this.id);
  }
}

/**
 * Asks the stopped thread itself to unwind, because interrupts do not reach code that stopped with interrupts disabled.
 *
 * It does not wait for the answer, because a thread that is busy in its stop answers late.
 */
async function leave(stop: StopOfTask): Promise<void> {
  void stop.abort().catch(() => undefined);
}

function outputEvent(chunk: OutputChunk) {
  return { type: "output", ...chunk } as const;
}

/** The `timeout` and the `signal` of one evaluation. */
export class Limits {
  readonly #timeout: number | undefined;
  readonly #task: { readonly userWait: number };
  readonly #reached: (limit: Limit) => void;
  readonly #stopListening: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** Milliseconds by which waiting for the user has extended the time. */
  #extended = 0;

  /** @throws SwankError `CANCELLED` if the signal has been aborted already. */
  constructor({ timeout, signal }: CallLimits, task: { readonly userWait: number }, reached: (limit: Limit) => void) {
    if (signal?.aborted) {
      throw new SwankError("CANCELLED", "The evaluation was cancelled before it was sent.", { cause: signal.reason });
    }
    this.#timeout = timeout;
    this.#task = task;
    this.#reached = reached;
    this.#stopListening = onLimit({ signal }, reached);
  }

  /** Starts the time: loading the runtime does not count. */
  start(): void {
    if (isLimit(this.#timeout) && this.#timer === undefined) this.#reachIn(this.#timeout);
  }

  #reachIn(milliseconds: number): void {
    this.#timer = setTimeout(() => {
      const more = this.#task.userWait - this.#extended;
      this.#extended += more;
      if (more > 0) this.#reachIn(more);
      else this.#reached("timeout");
    }, milliseconds);
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#stopListening();
  }
}
