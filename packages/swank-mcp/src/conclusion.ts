import type { Followed } from "./follow-evaluation.js";
import type { LastErrorChange } from "./last-error.js";
import type { Binding, ErrorSnapshot, Outcome, StopDetail, Stopped, StopReason, Transcript } from "./lisp-port.js";
import { killedSnapshot, lossSnapshot, stillRunningSnapshot, timeoutSnapshot } from "./made-snapshots.js";

/** Where an evaluation's thread is parked. */
export interface LiveStop {
  readonly thread: number;
  readonly level: number;
  readonly reason: StopReason;
  readonly detail: StopDetail;
  /** Variables of the first frame that is the user's own. */
  readonly locals: readonly Binding[];
}

/** Word in brackets before a condition's type. */
export type ConditionTag = "ERROR" | "BREAK" | "BREAKPOINT" | "STEP" | "TIMEOUT" | "INTERRUPT";

export interface ConditionEnding {
  readonly kind: "condition";
  readonly tag: ConditionTag;
  readonly error: ErrorSnapshot;
  /** Absent when nothing is parked. */
  readonly stop?: LiveStop;
  /** Where it goes on running, if it does. */
  readonly thread?: number | undefined;
}

export interface ValuesEnding {
  readonly kind: "values";
  /** Lisp sends the first of them only. */
  readonly values: readonly string[];
  /** How many there were. */
  readonly count: number;
}

export type Ending = ValuesEnding | { readonly kind: "aborted"; readonly byReset?: boolean } | ConditionEnding;

/** `running` is an evaluation that nothing could end. */
export type Status = Outcome["status"] | "running";

/** What a call says of its evaluation, and what becomes of the last error. */
export interface Conclusion {
  readonly status: Status;
  readonly transcript: Transcript;
  readonly ending: Ending;
  readonly isError: boolean;
  readonly lastError: LastErrorChange;
}

type Aborted = Extract<Outcome, { status: "aborted" }>;

const TAGS: Record<StopReason, ConditionTag> = {
  error: "ERROR",
  break: "BREAK",
  breakpoint: "BREAKPOINT",
  step: "STEP",
  interrupt: "TIMEOUT",
};

/** Of what printed nothing. */
export const EMPTY_TRANSCRIPT: Transcript = { stdout: "", stderr: "", warnings: [], warningsOmitted: 0, package: "" };

/** What can be concluded from: a cancelled call has no answer. */
export type Answerable = Exclude<Followed, { kind: "cancelled" }>;

/** What a conclusion says besides what the outcome tells. */
export interface Circumstances {
  /** Why the image is gone, in more detail than the outcome of a lost evaluation has it. */
  readonly loss?: string | undefined;
  /** What to do about the image, if it answers nothing at all. */
  readonly hang?: string | undefined;
  /** True if the session was reset meanwhile: what was lost or aborted was so on purpose. */
  readonly reset?: boolean;
  /** Milliseconds since the epoch. */
  readonly now?: number;
}

/** The one place that decides what is an error, and what sets or clears the last one. */
export function conclude(followed: Answerable, circumstances: Circumstances = {}): Conclusion {
  const { loss, hang, reset = false, now = Date.now() } = circumstances;
  if (followed.kind === "running") {
    const error = stillRunningSnapshot(followed.seconds, followed.thread, now, hang);
    return failed("running", followed.transcript, {
      kind: "condition",
      tag: "TIMEOUT",
      error,
      thread: followed.thread,
    });
  }
  const { outcome } = followed;
  const seconds = followed.kind === "timed-out" ? followed.seconds : undefined;
  switch (outcome.status) {
    case "returned":
      return calm(outcome, { kind: "values", values: outcome.values, count: outcome.valueCount }, { kind: "clear" });
    case "stopped":
      return stopped(outcome, seconds, followed.kind === "interrupted");
    case "aborted":
      return aborted(outcome, seconds, reset, now);
    case "lost":
      if (reset) return calm(outcome, { kind: "aborted", byReset: true }, { kind: "keep" });
      return failed("lost", outcome, {
        kind: "condition",
        tag: "ERROR",
        error: lossSnapshot(loss ?? outcome.cause.message, now),
      });
  }
}

function stopped(outcome: Stopped, seconds: number | undefined, byPerson: boolean): Conclusion {
  const { reason, detail, session, locals } = outcome;
  const error = reason === "interrupt" ? timeoutSnapshot(outcome.error, seconds) : outcome.error;
  const stop = { thread: session.thread, level: session.level, reason, detail, locals };
  const tag = byPerson && reason === "interrupt" ? "INTERRUPT" : TAGS[reason];
  const ending = { kind: "condition", tag, error, stop } as const;
  return reason === "error" || reason === "interrupt"
    ? failed("stopped", outcome, ending)
    : calm(outcome, ending, { kind: "keep" });
}

function aborted(outcome: Aborted, seconds: number | undefined, byReset: boolean, now: number): Conclusion {
  if (outcome.error !== undefined) {
    return failed("aborted", outcome, { kind: "condition", tag: "ERROR", error: outcome.error });
  }
  if (byReset) return calm(outcome, { kind: "aborted", byReset }, { kind: "keep" });
  if (seconds === undefined) return calm(outcome, { kind: "aborted" }, { kind: "keep" });
  return failed("aborted", outcome, { kind: "condition", tag: "TIMEOUT", error: killedSnapshot(seconds, now) });
}

function calm(outcome: Outcome, ending: Ending, lastError: LastErrorChange): Conclusion {
  return { status: outcome.status, transcript: outcome, ending, isError: false, lastError };
}

function failed(status: Status, transcript: Transcript, ending: ConditionEnding): Conclusion {
  return { status, transcript, ending, isError: true, lastError: { kind: "set", error: ending.error } };
}
