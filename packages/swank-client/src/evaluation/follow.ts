import { SwankError } from "../base/errors.js";
import { check, checkOptions, type OptionsOf } from "../base/options.js";
import { type CallLimits, within } from "../base/waiting.js";
import type { Transcript } from "./evaluate.js";
import type { Evaluation } from "./stop.js";

const DEFAULT_PATIENCE = 3000;

/** Milliseconds that the image has at least to load what an evaluation needs, before it is given up. */
const LOADING_TIME = 2000;

/** Longest wait for an abort, a forced one included, in milliseconds; the evaluation gives up earlier unless the image hangs. */
const ABORT_TIME = 5000;

const followOptions = {
  /** Milliseconds until the evaluation is interrupted. They begin when it is sent. Default: no limit. */
  timeout: check.milliseconds,
  /** Aborts the evaluation when aborted. */
  signal: check.signal,
  /** Interrupts the evaluation when aborted: it then stops in the debugger, as after the timeout. */
  interrupt: check.signal,
  /**
   * Milliseconds that an interrupted evaluation has to stop; default 3000. Printing the frames of the stop, whose arguments may have methods that
   * never return, takes up to 2000 of them.
   */
  patience: check.milliseconds,
};

/** Limits on following an evaluation. */
export interface FollowOptions extends OptionsOf<typeof followOptions> {}

/**
 * How the wait for an outcome ended. `lock` is the lock for which the evaluation waited when it was interrupted, and its holder, in words.
 *
 * - `outcome`: the evaluation returned, stopped, was aborted or lost within its time.
 * - `timed-out`, `interrupted`: its time was up, or `interrupt` was aborted. The outcome is that of the interrupt, or of the abort after it.
 * - `running`: it reacted to neither, and runs on.
 * - `cancelled`: `signal` was aborted. The evaluation was aborted, or did not react to the abort.
 */
export type Followed<Outcome> =
  | { readonly kind: "outcome"; readonly outcome: Outcome }
  | { readonly kind: "timed-out"; readonly timeout: number; readonly outcome: Outcome; readonly lock?: string }
  | { readonly kind: "interrupted"; readonly outcome: Outcome; readonly lock?: string }
  | {
      readonly kind: "running";
      /** Absent if `interrupt` was aborted. */
      readonly timeout?: number;
      readonly thread: number | undefined;
      readonly lock?: string;
      /** Output and warnings so far. */
      readonly transcript: Transcript;
    }
  | { readonly kind: "cancelled" };

/** The members of an evaluation by which it is followed. */
export interface Followable<Outcome>
  extends Pick<
    Evaluation,
    "thread" | "interrupt" | "takeTranscript" | "userWait" | "awaitedLock" | "isSent" | "begun"
  > {
  /** As `Evaluation.next`. */
  next(options?: CallLimits): Promise<Outcome>;
  /** As `Evaluation.abort`. */
  abort(): Promise<Outcome>;
}

/**
 * Waits for an evaluation's next outcome as a person at a REPL does: interrupts it when its time is up, so that it stops in the debugger with all its
 * frames, and aborts it if it ignores the interrupt. Time for which it waits for the user's answer does not count.
 *
 * @throws SwankError `REQUEST_TIMEOUT` if it was not sent, because what it needs in the image was not loaded in its time or 2 s; `INVALID_ARGUMENT`; and the
 * errors of `Evaluation.next` except `WAIT_TIMEOUT`.
 */
export async function followEvaluation<Outcome>(
  evaluation: Followable<Outcome>,
  options: FollowOptions = {},
): Promise<Followed<Outcome>> {
  checkOptions("followEvaluation", options, followOptions);
  return new Follower(evaluation, options).follow();
}

/** One wait for an outcome. */
class Follower<Outcome> {
  readonly #evaluation: Followable<Outcome>;
  readonly #timeout: number;
  readonly #patience: number;
  readonly #signal: AbortSignal | undefined;
  readonly #interrupt: AbortSignal | undefined;

  constructor(
    evaluation: Followable<Outcome>,
    { timeout = Number.POSITIVE_INFINITY, patience = DEFAULT_PATIENCE, signal, interrupt }: FollowOptions,
  ) {
    this.#evaluation = evaluation;
    this.#timeout = timeout;
    this.#patience = patience;
    this.#signal = signal;
    this.#interrupt = interrupt;
  }

  async follow(): Promise<Followed<Outcome>> {
    const [signal, interrupt] = [this.#signal, this.#interrupt];
    // A combined signal takes longer than the rest of the wait.
    const either =
      signal === undefined || interrupt === undefined || signal === interrupt
        ? (signal ?? interrupt)
        : AbortSignal.any([signal, interrupt]);
    const loading = Math.max(this.#timeout, LOADING_TIME);
    const hasBegun = this.#evaluation.isSent || (await this.#evaluation.begun({ timeout: loading, signal: either }));
    const outcome = hasBegun && either?.aborted !== true ? await this.#outcomeInTime(either) : undefined;
    if (outcome !== undefined) return { kind: "outcome", outcome };
    if (signal?.aborted) return this.#cancel();
    if (!this.#evaluation.isSent && interrupt?.aborted !== true) {
      const withdrawal = await this.#withdraw(loading);
      if (withdrawal !== undefined) return withdrawal;
    }
    return this.#stop(interrupt?.aborted === true);
  }

  /** The outcome within the timeout, without the time for which the evaluation waits for the user; `undefined` if there is none. */
  async #outcomeInTime(signal: AbortSignal | undefined): Promise<Outcome | undefined> {
    let begin = this.#evaluation.userWait;
    for (let left = this.#timeout; ; ) {
      const outcome = await this.#nextOutcome(left, signal);
      left = this.#evaluation.userWait - begin;
      if (outcome !== undefined || signal?.aborted || left <= 0) return outcome;
      begin += left;
    }
  }

  /** @returns `undefined` when the time was up or the signal was aborted first. */
  async #nextOutcome(timeout: number, signal: AbortSignal | undefined): Promise<Outcome | undefined> {
    try {
      return await this.#evaluation.next({ timeout, signal });
    } catch (error) {
      if (signal?.aborted || isWaitTimeout(error)) return undefined;
      throw error;
    }
  }

  /** Withdraws an evaluation that has not been sent. @returns `undefined` if it could be neither withdrawn nor aborted */
  async #withdraw(time: number): Promise<Followed<Outcome> | undefined> {
    const outcome = await this.#abort();
    if (outcome === undefined) return undefined;
    if (this.#evaluation.isSent) return this.#stopped(false, outcome);
    const message = `Nothing was run: what it needs in the image was not loaded within ${time / 1000} s.`;
    throw new SwankError("REQUEST_TIMEOUT", message, { remedy: "Call again, with more time." });
  }

  async #stop(isInterrupted: boolean): Promise<Followed<Outcome>> {
    // The next outcome shows the effect of the interrupt, even when sending it failed.
    const sent = this.#evaluation.interrupt().catch(() => false);
    await within(sent, { timeout: this.#patience });
    const stopped = await this.#nextOutcome(this.#patience, this.#signal);
    if (stopped === undefined && this.#signal?.aborted) return this.#cancel();
    const outcome = stopped ?? (await this.#abort());
    if (outcome !== undefined) return this.#stopped(isInterrupted, outcome);
    const { thread } = this.#evaluation;
    const transcript = this.#evaluation.takeTranscript();
    const timeout = isInterrupted ? {} : { timeout: this.#timeout };
    return { kind: "running", thread, transcript, ...timeout, ...this.#lock() };
  }

  #stopped(isInterrupted: boolean, outcome: Outcome): Followed<Outcome> {
    if (isInterrupted) return { kind: "interrupted", outcome, ...this.#lock() };
    return { kind: "timed-out", timeout: this.#timeout, outcome, ...this.#lock() };
  }

  #lock(): { readonly lock?: string } {
    const lock = this.#evaluation.awaitedLock;
    return lock === undefined ? {} : { lock };
  }

  async #cancel(): Promise<Followed<Outcome>> {
    await this.#abort();
    return { kind: "cancelled" };
  }

  /** @returns `undefined` when not even a forced abort ended the evaluation. */
  async #abort(): Promise<Outcome | undefined> {
    const aborted = this.#evaluation.abort().catch((error: unknown) => {
      if (isWaitTimeout(error)) return undefined;
      throw error;
    });
    return within(aborted, { timeout: ABORT_TIME });
  }
}

function isWaitTimeout(error: unknown): boolean {
  return error instanceof SwankError && error.code === "WAIT_TIMEOUT";
}
