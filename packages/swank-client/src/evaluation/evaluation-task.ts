import { setTimeout } from "node:timers/promises";
import type { DebuggerSession } from "../debugger/debugger-session.js";
import { SwankError } from "../errors.js";
import type { StopReport } from "../runtime/decode-snapshot.js";
import type { Evaluation, OutputChunk } from "./evaluation.js";
import type { Aborted, Lost, Outcome, Returned, Stopped, Transcript } from "./outcome.js";
import { OutcomeSlot, type Producer, type WaitOptions } from "./outcome-slot.js";
import { type OutputStream, type SessionState, TranscriptRecorder } from "./transcript.js";

/** An outcome without what every outcome carries. */
export type Verdict =
  | Omit<Returned, keyof Transcript>
  | Omit<Stopped, keyof Transcript>
  | Omit<Aborted, keyof Transcript>
  | Omit<Lost, keyof Transcript>;

/** How an evaluation reaches into the image. Each gives the id of its thread, `undefined` if the image does not know it, any more or yet. */
export interface EvaluationControl {
  interrupt(id: number, count: number): Promise<number | undefined>;
  abort(id: number): Promise<number | undefined>;
  kill(id: number): Promise<number | undefined>;
}

/** Milliseconds between attempts to end an evaluation, before force is used. */
const ABORT_PAUSES = [250, 250, 500] as const;
/** Milliseconds between repetitions of an interrupt. */
const INTERRUPT_PAUSES = [50, 100, 200, 400, 800] as const;
/** Milliseconds that a request to the stopped thread has to take effect. */
const LEAVE_PAUSE = 500;
/** Milliseconds that force has to take effect. */
const KILL_PAUSE = 1000;
/** Milliseconds between questions whether a request has begun to run, and how often they are asked. */
const START_PAUSE = 20;
const START_ATTEMPTS = 100;

/** An evaluation as the client itself sees it: the caller's side, and what the image tells of it. */
export class EvaluationTask implements Evaluation {
  readonly id: number;
  readonly #control: EvaluationControl;
  readonly #onOutput: ((chunk: OutputChunk) => void) | undefined;
  readonly #slot = new OutcomeSlot<Outcome>();
  readonly #recorder: TranscriptRecorder;
  /** Aborted when it has ended. A signal, and no promise: a promise would keep every wait for it until then. */
  readonly #settled = new AbortController();
  #interrupts = 0;
  #session: DebuggerSession | undefined;
  #thread: number | undefined;

  constructor(
    id: number,
    control: EvaluationControl,
    session: SessionState,
    onOutput: ((chunk: OutputChunk) => void) | undefined,
  ) {
    this.id = id;
    this.#control = control;
    this.#recorder = new TranscriptRecorder(session);
    this.#onOutput = onOutput;
  }

  get stop(): DebuggerSession | undefined {
    return this.#session?.isLive ? this.#session : undefined;
  }

  get thread(): number | undefined {
    return this.#thread;
  }

  get isSettled(): boolean {
    return this.#settled.signal.aborted;
  }

  next(options: WaitOptions = {}): Promise<Outcome> {
    return this.#slot.take(options);
  }

  async interrupt(): Promise<boolean> {
    this.#interrupts += 1;
    const count = this.#interrupts;
    while (!this.isSettled && this.stop === undefined) {
      if (await this.#isKnown(this.#control.interrupt(this.id, count))) {
        void this.#insist(count);
        return true;
      }
      await pause(START_PAUSE);
    }
    return false;
  }

  async abort(): Promise<Outcome> {
    let failure: unknown;
    for (const { end, patience } of this.#waysToEnd()) {
      if (this.isSettled) break;
      failure = await end().then(() => undefined, identity);
      await this.#settledWithin(patience);
    }
    if (this.isSettled) return this.next();
    throw (
      failure ??
      new SwankError("WAIT_TIMEOUT", "The evaluation could not be ended; it runs without interrupts and goes on.")
    );
  }

  takeTranscript(): Transcript {
    return this.#recorder.take();
  }

  /** Text that it printed; `omittedBefore` characters were left out before it. */
  output(stream: OutputStream, text: string, omittedBefore: number): void {
    this.#recorder.write(stream, text, omittedBefore);
    this.#onOutput?.({ stream, text });
  }

  /** What was warned since the last report, and the session's package now. */
  report({
    warnings,
    warningsOmitted,
    package: name,
  }: Pick<StopReport, "warnings" | "warningsOmitted" | "package">): void {
    this.#recorder.warn(warnings, warningsOmitted);
    if (name !== undefined) this.#recorder.package = name;
  }

  stopped(session: DebuggerSession, { reason, detail, error, locals }: StopReport): void {
    this.#session = session;
    this.#thread = session.thread;
    session.ended.addEventListener("abort", () => this.#slot.drop(), { once: true });
    this.#slot.put(this.#outcome({ status: "stopped", reason, detail, error, locals, session }));
  }

  ended(verdict: Exclude<Verdict, { status: "stopped" }>): void {
    this.#slot.putLast(this.#outcome(verdict));
    this.#settle();
  }

  /** It never ran. */
  refused(error: SwankError): void {
    this.#slot.fail(error);
    this.#settle();
  }

  /** The transcript belongs to whoever takes the verdict, at the time when it is taken. */
  #outcome(verdict: Verdict): Producer<Outcome> {
    return () => ({ ...verdict, ...this.#recorder.take() });
  }

  #settle(): void {
    this.#settled.abort();
  }

  /** An interrupt that meets the thread as it leaves a stop is lost: what neither stops nor ends is asked again. */
  async #insist(count: number): Promise<void> {
    const before = this.#session;
    for (const wait of INTERRUPT_PAUSES) {
      await setTimeout(wait, undefined, { ref: false });
      if (this.isSettled || this.#session !== before) return;
      await this.#control.interrupt(this.id, count).catch(() => undefined);
    }
  }

  /** From the gentlest, with the milliseconds that each has to take effect. */
  *#waysToEnd(): Generator<{ end: () => Promise<void>; patience: number }> {
    for (const patience of ABORT_PAUSES) yield { end: () => this.#unwind(), patience };
    const stop = this.stop;
    if (stop !== undefined) yield { end: () => leave(stop), patience: LEAVE_PAUSE };
    yield { end: () => this.#kill(), patience: KILL_PAUSE };
  }

  /** Asks the image until it knows the evaluation: the request may not have begun to run. */
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
    return pause(milliseconds, this.#settled.signal);
  }
}

/**
 * Asks the stopped thread itself to unwind: no interrupt reaches code that stopped without interrupts.
 *
 * It does not wait for the answer, which a thread that is busy in its stop gives late.
 */
async function leave(stop: DebuggerSession): Promise<void> {
  void stop.abort().catch(() => undefined);
}

/** Never rejects: it is over early when the signal is aborted. */
function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return setTimeout(milliseconds, undefined, signal && { signal }).catch(() => undefined);
}

function identity(reason: unknown): unknown {
  return reason;
}
