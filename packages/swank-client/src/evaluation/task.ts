import { setTimeout as pause } from "node:timers/promises";
import { SwankError } from "../base/errors.js";
import {
  type CallLimits,
  isLimit,
  Latch,
  type Limit,
  OutcomeSlot,
  onLimit,
  type Producer,
  type WaitOptions,
} from "../base/waiting.js";
import { type HeldLock, heldLockText, isSameHold } from "../runtime/caller.js";
import type { BareOutcome, EvaluateOptions, EvaluationOf, OutcomeOf, StopOfTask, Transcript } from "./evaluate.js";
import type { OutputChunk, OutputStream, SessionUpdate } from "./report.js";
import { OutputFeed, type SessionState, TranscriptRecorder } from "./transcript.js";

/** An evaluation's calls in the image. Each returns the id of its thread, or `undefined` before it has begun and after it has ended. */
export interface EvaluationControl {
  interrupt(id: number, count: number): Promise<number | undefined>;
  abort(id: number): Promise<number | undefined>;
  kill(id: number): Promise<number | undefined>;
  /** The lock that it waits for now; `undefined` if there is none or that is not known. Never rejects. */
  awaitedLock(id: number): Promise<HeldLock | undefined>;
  /** Ends its request, of which the image may not know yet that it is an evaluation. Never rejects. */
  end(id: number): Promise<void>;
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

/** An evaluation, with the methods for the runner besides those for the caller. */
export class EvaluationTask<Stop extends StopOfTask> implements EvaluationOf<Stop> {
  readonly id: number;
  readonly #control: EvaluationControl;
  readonly #listeners: Pick<EvaluateOptions, "onOutput" | "onProgress" | "outputLimit">;
  readonly #slot = new OutcomeSlot<OutcomeOf<Stop>>();
  readonly #recorder: TranscriptRecorder;
  /** Opens when it has ended. */
  readonly #settled = new Latch();
  /** Readers of the output; `undefined` for most evaluations. */
  #feeds: Set<OutputFeed> | undefined;
  #interrupts = 0;
  #awaitedLock: string | undefined;
  #stop: Stop | undefined;
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
    listeners: Pick<EvaluateOptions, "onOutput" | "onProgress" | "outputLimit">,
  ) {
    this.id = id;
    this.#control = control;
    this.#recorder = new TranscriptRecorder(session, listeners.outputLimit);
    this.#listeners = listeners;
  }

  get stop(): Stop | undefined {
    return this.#stop?.isLive ? this.#stop : undefined;
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

  next(options: WaitOptions = {}): Promise<OutcomeOf<Stop>> {
    return this.#slot.take(options);
  }

  chunks(): AsyncIterableIterator<OutputChunk, undefined> {
    const feed = new OutputFeed(this.#recorder.pieces(), (left) => this.#feeds?.delete(left));
    if (this.isSettled || this.#slot.hasNext || this.#staysStopped()) feed.end();
    else {
      this.#feeds ??= new Set();
      this.#feeds.add(feed);
    }
    return feed;
  }

  async interrupt(): Promise<boolean> {
    this.#interrupts += 1;
    const count = this.#interrupts;
    // The interrupt ends the wait, which cannot be seen in the stack of the stop if Lisp's own functions wait.
    const lock = this.stop === undefined ? await this.#control.awaitedLock(this.id) : undefined;
    this.#awaitedLock = lock && heldLockText(lock);
    while (!this.isSettled && !this.#staysStopped()) {
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
    let failure: unknown;
    if (!this.isSent && this.#cancel !== undefined) {
      this.#isWithdrawn = true;
      this.#cancel();
      await this.#settledWithin(CANCEL_PAUSE);
    }
    for (const { end, patience } of this.#waysToEnd()) {
      if (this.isSettled) break;
      failure = await end().then(() => undefined, identity);
      await this.#settledWithin(patience);
    }
    if (this.isSettled) return this.next();
    throw (
      failure ??
      new SwankError("WAIT_TIMEOUT", "The evaluation could not be aborted: it runs without interrupts and continues.")
    );
  }

  /** Aborts it, and waits a while for its end. */
  async unwind(): Promise<void> {
    await this.#unwind().catch(() => undefined);
    await this.#settledWithin(UNWIND_PAUSE);
  }

  takeTranscript(): Transcript {
    return this.#recorder.take(this.#elapsed());
  }

  /** The request waits for the runtime to be loaded. `cancel` ends that wait, and the request is not sent. */
  waitsForRuntime(cancel: () => void): void {
    this.#cancel = cancel;
  }

  /** The request has been sent. The time to load the runtime is not the evaluation's. */
  sent(): void {
    this.#began = performance.now();
  }

  /** Adds output. `omittedBefore` characters are missing before it. */
  output(stream: OutputStream, text: string, omittedBefore: number): void {
    this.#recorder.write(stream, text, omittedBefore);
    const chunk = omittedBefore === 0 ? { stream, text } : { stream, text, omittedBefore };
    this.#listeners.onOutput?.(chunk);
    if (this.#feeds !== undefined) for (const feed of this.#feeds) feed.add(chunk);
  }

  /** It has begun to wait for the user, or goes on. */
  waits(isWaiting: boolean): void {
    this.#userWait = this.userWait;
    this.#waitBegan = isWaiting ? performance.now() : undefined;
  }

  progress(text: string): void {
    this.#listeners.onProgress?.(text);
  }

  /** Adds the session's changes since the last report. */
  report(update: SessionUpdate): void {
    this.#recorder.report(update);
  }

  /** @param left - Opens when the thread leaves the stop. */
  stopped(stop: Stop, left: Latch): void {
    this.#stop = stop;
    this.#thread = stop.thread;
    this.#recorder.endLeg();
    left.onOpen(() => this.#resumed());
    this.#slot.put(this.#outcome({ status: "stopped", stop }));
    this.#endFeeds();
  }

  ended(verdict: Exclude<BareOutcome<Stop>, { status: "stopped" }>): void {
    this.#slot.putLast(this.#outcome(verdict));
    this.#settle();
  }

  /** It never ran. */
  refused(error: SwankError): void {
    if (this.#isWithdrawn) {
      this.ended({ status: "aborted" });
      return;
    }
    this.#slot.fail(error);
    this.#settle();
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
  }

  #elapsed(): number | undefined {
    return this.#began === undefined ? undefined : performance.now() - this.#began;
  }

  #settle(): void {
    this.#settled.open();
    this.#endFeeds();
  }

  #endFeeds(): void {
    const feeds = this.#feeds ?? [];
    this.#feeds = undefined;
    for (const feed of feeds) feed.end();
  }

  /** True if it waits for the compiler's lock longer than SBCL holds that for a moment. */
  async #lastingWait(lock: HeldLock | undefined): Promise<boolean> {
    if (lock?.isCompilers !== true) return false;
    await this.#settledWithin(LOCK_PAUSE);
    const later = await this.#control.awaitedLock(this.id);
    return later !== undefined && isSameHold(lock, later);
  }

  #staysStopped(): boolean {
    return this.stop !== undefined && !this.stop.isLeaving;
  }

  /** Repeats the interrupt until the evaluation stops or ends, because an interrupt is lost if the thread is leaving a stop. */
  async #insist(count: number): Promise<void> {
    const before = this.#stop;
    for (const wait of INTERRUPT_PAUSES) {
      await pause(wait, undefined, { ref: false });
      if (this.isSettled || this.#stop !== before) return;
      await this.#control.interrupt(this.id, count).catch(() => undefined);
    }
  }

  /** Ways to end the evaluation, the gentlest first, with the milliseconds that each may take. */
  *#waysToEnd(): Generator<{ end: () => Promise<void>; patience: number }> {
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
      await this.#settledWithin(START_PAUSE);
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

  #settledWithin(milliseconds: number): Promise<void> {
    return this.#settled.within(milliseconds);
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

function identity(reason: unknown): unknown {
  return reason;
}

/** The part of an evaluation that its limits need. */
interface LimitedTask {
  interrupt(): Promise<unknown>;
  abort(): Promise<unknown>;
  readonly isSettled: boolean;
  takeTranscript(): Transcript;
  readonly userWait: number;
}

/** Called when an evaluation reaches a limit. */
export type AtLimit = (task: LimitedTask, limit: Limit) => void;

/** The `timeout` and the `signal` of one evaluation. */
export class Limits {
  readonly #timeout: number | undefined;
  readonly #task: Pick<LimitedTask, "userWait">;
  readonly #reached: (limit: Limit) => void;
  readonly #stopListening: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** Milliseconds by which waiting for the user has extended the time. */
  #extended = 0;

  /** @throws SwankError `CANCELLED` if the signal has been aborted already. */
  constructor({ timeout, signal }: CallLimits, task: Pick<LimitedTask, "userWait">, reached: (limit: Limit) => void) {
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

/** Interrupts an evaluation after its `timeout`, or ends it if nothing may stop, and ends it when its `signal` is aborted. */
export function interruptOrEnd(onError: "stop" | "unwind" | undefined): AtLimit {
  return (task, limit) => {
    const action = limit === "timeout" && onError !== "unwind" ? task.interrupt() : task.abort();
    // If the image does not do it, the caller learns that from `abort` or from the lost connection.
    action.catch(() => undefined);
  };
}
