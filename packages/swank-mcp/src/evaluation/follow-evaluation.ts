import type { Evaluation, Outcome, Transcript } from "../image/lisp-port.js";
import { settledWithin } from "../process/settled-within.js";

/**
 * Time that an interrupted evaluation has to stop, in milliseconds. Printing the frames of the stop, whose arguments may have methods that never
 * return, takes up to 2 s of it.
 */
export const REACTION_TIME = 3000;
/** Longest wait for an abort, a forced one included, in milliseconds; the client gives up earlier unless the image hangs. */
const ABORT_TIME = 5000;

/** The result of waiting for an evaluation. */
export type Followed =
  | { readonly kind: "outcome"; readonly outcome: Outcome }
  /** The time was up; `outcome` is that of the interrupt, or of the abort after it. */
  | { readonly kind: "timed-out"; readonly seconds: number; readonly outcome: Outcome }
  /** The user interrupted the evaluation; `outcome` is that of the interrupt, or of the abort after it. */
  | { readonly kind: "interrupted"; readonly outcome: Outcome }
  /** Neither interrupt nor abort had an effect; `seconds` is absent when the user interrupted the evaluation. */
  | {
      readonly kind: "running";
      readonly seconds?: number | undefined;
      readonly thread: number | undefined;
      /** Output and warnings so far. */
      readonly transcript: Transcript;
    }
  /** The call was cancelled; the evaluation was aborted, or did not react to the abort. */
  | { readonly kind: "cancelled" };

export interface FollowOptions {
  /** Seconds until the evaluation is interrupted. */
  readonly seconds: number;
  /** Aborted when the call is cancelled: the evaluation is then aborted. */
  readonly signal: AbortSignal;
  /** Aborted when the user interrupts the evaluation: it then pauses in the debugger, as after a timeout. */
  readonly interrupt?: AbortSignal;
}

/**
 * Waits for an evaluation's next outcome.
 *
 * Interrupts the evaluation when its time is up or the user asks for it, and aborts it if it ignores the interrupt.
 *
 * @throws SwankError - any error of the client except `WAIT_TIMEOUT`.
 */
export async function followEvaluation(evaluation: Evaluation, options: FollowOptions): Promise<Followed> {
  const { seconds, signal, interrupt: interruptSignal = signal } = options;
  // Most clients have no way to interrupt a call. A combined signal takes longer than the rest of the wait.
  const either = interruptSignal === signal ? signal : AbortSignal.any([signal, interruptSignal]);
  const outcome = await outcomeWithin(evaluation, seconds * 1000, either);
  if (outcome !== undefined) return { kind: "outcome", outcome };
  if (signal.aborted) return cancel(evaluation);
  return interrupt(evaluation, interruptSignal.aborted ? undefined : seconds, signal);
}

/** @param seconds - The time that was up; `undefined` when the user interrupted the evaluation. */
async function interrupt(evaluation: Evaluation, seconds: number | undefined, signal: AbortSignal): Promise<Followed> {
  // The next outcome shows the effect of the interrupt, even when sending it failed.
  await settledWithin(
    REACTION_TIME,
    evaluation.interrupt().catch(() => false),
  );
  const outcome = await nextOutcome(evaluation, REACTION_TIME, signal);
  if (outcome !== undefined) return interrupted(seconds, outcome);
  return signal.aborted ? cancel(evaluation) : end(evaluation, seconds);
}

async function end(evaluation: Evaluation, seconds: number | undefined): Promise<Followed> {
  const ended = await settledWithin(ABORT_TIME, abort(evaluation));
  if (ended?.value === undefined)
    return { kind: "running", seconds, thread: evaluation.thread, transcript: evaluation.takeTranscript() };
  return interrupted(seconds, ended.value);
}

function interrupted(seconds: number | undefined, outcome: Outcome): Followed {
  return seconds === undefined ? { kind: "interrupted", outcome } : { kind: "timed-out", seconds, outcome };
}

async function cancel(evaluation: Evaluation): Promise<Followed> {
  await settledWithin(ABORT_TIME, abort(evaluation));
  return { kind: "cancelled" };
}

/** @returns `undefined` when not even a forced abort ended the evaluation. */
async function abort(evaluation: Evaluation): Promise<Outcome | undefined> {
  try {
    return await evaluation.abort();
  } catch (error) {
    if (isWaitTimeout(error)) return undefined;
    throw error;
  }
}

/** The same as `nextOutcome`, without the time for which the evaluation waits for the user. */
async function outcomeWithin(
  evaluation: Evaluation,
  timeout: number,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  let begin = evaluation.userWait;
  for (let left = timeout; ; ) {
    const outcome = await nextOutcome(evaluation, left, signal);
    left = evaluation.userWait - begin;
    if (outcome !== undefined || signal.aborted || left <= 0) return outcome;
    begin += left;
  }
}

/** @returns `undefined` when the time was up or the signal was aborted first. */
async function nextOutcome(evaluation: Evaluation, timeout: number, signal: AbortSignal): Promise<Outcome | undefined> {
  try {
    return await evaluation.next({ timeout, signal });
  } catch (error) {
    if (signal.aborted || isWaitTimeout(error)) return undefined;
    throw error;
  }
}

function isWaitTimeout(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "WAIT_TIMEOUT";
}
