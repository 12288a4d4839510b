import type { Evaluation, Outcome, Transcript } from "./lisp-port.js";
import { settledWithin } from "./settled-within.js";

/** How long an interrupted evaluation has to stop, in milliseconds. */
export const REACTION_TIME = 2000;
/** How long an abort may take, force included; the client gives up earlier by itself unless the image answers nothing at all. */
const ABORT_TIME = 5000;

/** How an evaluation went, as far as a call waited for it. */
export type Followed =
  | { readonly kind: "outcome"; readonly outcome: Outcome }
  /** The time ran out, and what the interrupt or the abort after it led to. */
  | { readonly kind: "timed-out"; readonly seconds: number; readonly outcome: Outcome }
  /** The person broke in, and what that led to. */
  | { readonly kind: "interrupted"; readonly outcome: Outcome }
  /** Neither interrupt nor abort had an effect; `seconds` is absent when it was the person who broke in. */
  | {
      readonly kind: "running";
      readonly seconds?: number | undefined;
      readonly thread: number | undefined;
      /** What it has printed and warned so far. */
      readonly transcript: Transcript;
    }
  /** Nobody wants the answer any more; the evaluation was unwound, or would not be. */
  | { readonly kind: "cancelled" };

export interface FollowOptions {
  /** Time the evaluation has before it is interrupted. */
  readonly seconds: number;
  /** Aborted when nobody wants the answer any more: the evaluation is then unwound. */
  readonly signal: AbortSignal;
  /** Aborted when a person wants to look at it where it is: it is interrupted as if its time were up. */
  readonly interrupt?: AbortSignal;
}

/**
 * Waits for an evaluation's next outcome; interrupts it when its time is up or the person breaks in, ends it when it does not react to that.
 *
 * @throws SwankError - whatever the client reports other than the end of the wait.
 */
export async function followEvaluation(evaluation: Evaluation, options: FollowOptions): Promise<Followed> {
  const { seconds, signal, interrupt: brokenIn = signal } = options;
  const outcome = await nextOutcome(evaluation, seconds * 1000, AbortSignal.any([signal, brokenIn]));
  if (outcome !== undefined) return { kind: "outcome", outcome };
  if (signal.aborted) return cancel(evaluation);
  return interrupt(evaluation, brokenIn.aborted ? undefined : seconds, signal);
}

/** @param seconds - The time that was up; `undefined` when the person broke in. */
async function interrupt(evaluation: Evaluation, seconds: number | undefined, signal: AbortSignal): Promise<Followed> {
  // Whether the interrupt could be sent is of no interest: the outcome tells what came of it.
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

/** @returns `undefined` when not even force could end it. */
async function abort(evaluation: Evaluation): Promise<Outcome | undefined> {
  try {
    return await evaluation.abort();
  } catch (error) {
    if (isWaitTimeout(error)) return undefined;
    throw error;
  }
}

/** @returns `undefined` when the time was up or the signal came first. */
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
