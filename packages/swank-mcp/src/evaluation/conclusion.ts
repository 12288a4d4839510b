import type {
  CutValue,
  ErrorSnapshot,
  FrameValue,
  IdleBreakpoint,
  Outcome,
  StopData,
  Stopped,
  StopReason,
  Transcript,
} from "../image/lisp-port.js";
import type { Followed } from "./follow-evaluation.js";
import { killedSnapshot, lossSnapshot, stillRunningSnapshot, timeoutSnapshot } from "./made-snapshots.js";
import { markedOutput } from "./marked-output.js";

/** The tag in brackets before a condition's type in a report. */
export type ConditionTag = "ERROR" | "BREAK" | "BREAKPOINT" | "STEP" | "TIMEOUT" | "INTERRUPT";

export interface ConditionEnding {
  readonly kind: "condition";
  readonly tag: ConditionTag;
  readonly error: ErrorSnapshot;
  /** Absent when no thread is left stopped. */
  readonly stop?: StopData;
  /** The thread in which the evaluation still runs, if it does. */
  readonly thread?: number | undefined;
}

export interface ValuesEnding {
  readonly kind: "values";
  /** The printed values that Lisp sent; it sends only the first ones of many. */
  readonly values: readonly string[];
  /** Those that do not show everything. */
  readonly cutValues: readonly CutValue[];
  /** Number of values that the evaluation returned. */
  readonly count: number;
  /** The number of forms, and the numbers of those before the last with values worth showing. Absent for code in a frame. */
  readonly forms?: { readonly count: number; readonly unshown: readonly number[] };
  readonly idleBreakpoints?: readonly IdleBreakpoint[];
}

export type Ending = ValuesEnding | { readonly kind: "aborted"; readonly byReset?: boolean } | ConditionEnding;

/** `running` means that neither an interrupt nor an abort ended the evaluation. */
export type Status = Outcome["status"] | "running";

/** How the end or stop of an evaluation changes the last error. */
export type LastErrorChange =
  | { readonly kind: "set"; readonly error: ErrorSnapshot }
  | { readonly kind: "clear" }
  | { readonly kind: "keep" };

/** What a call reports about its evaluation, and the change to the last error. */
export interface Conclusion {
  readonly status: Status;
  /** Its output has lines where text is missing. */
  readonly transcript: Transcript;
  /** Characters that the image's process has written to its own stdout and stderr since the previous evaluation's answer. */
  readonly processOutput?: number;
  readonly ending: Ending;
  readonly isError: boolean;
  readonly lastError: LastErrorChange;
}

type Returned = Extract<Outcome, { status: "returned" }>;
type Aborted = Extract<Outcome, { status: "aborted" }>;

const TAGS: Record<StopReason, ConditionTag> = {
  error: "ERROR",
  break: "BREAK",
  breakpoint: "BREAKPOINT",
  step: "STEP",
  interrupt: "TIMEOUT",
};

/** The transcript of an evaluation that printed nothing and gave no warnings. */
export const EMPTY_TRANSCRIPT: Transcript = {
  stdout: "",
  stderr: "",
  output: [],
  outputOmitted: [],
  warnings: [],
  warningsInFiles: [],
  warningsOmitted: 0,
  // The client's constant would load the client when the server starts.
  redefinitions: { count: 0, files: [], stale: [] },
  package: "",
  milliseconds: undefined,
};

/** Results of a wait that have an answer; a cancelled call has none. */
export type Answerable = Exclude<Followed, { kind: "cancelled" }>;

/** Facts for a conclusion that are not in the outcome. */
export interface Circumstances {
  /** Why the image is gone, in more detail than the outcome of a lost evaluation has. */
  readonly loss?: string | undefined;
  /** What the next call does after a loss, a sentence. */
  readonly next?: string | undefined;
  /** What is known about the image and what to do about it, if it answers no request. */
  readonly hang?: string | undefined;
  /** What to do about an evaluation that reacts to nothing, if the image answers. */
  readonly way?: string | undefined;
  /** True if the session was reset during the evaluation: its loss or abort was then intended. */
  readonly reset?: boolean;
  /** Milliseconds since the epoch. */
  readonly now?: number;
}

/** Decides whether an outcome is an error, and whether it sets or clears the last error. No other code decides this. */
export function conclude(followed: Answerable, circumstances: Circumstances = {}): Conclusion {
  const { loss, next, hang, way, reset = false, now = Date.now() } = circumstances;
  if (followed.kind === "running") {
    const error = stillRunningSnapshot(followed.seconds, followed.thread, now, hang, way);
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
      return returned(outcome);
    case "stopped":
      return stopped(outcome, seconds, followed.kind === "interrupted");
    case "aborted":
      return aborted(outcome, seconds, reset, now);
    case "lost":
      if (reset) return succeeded(outcome, { kind: "aborted", byReset: true }, { kind: "keep" });
      return failed("lost", outcome, {
        kind: "condition",
        tag: "ERROR",
        error: lossSnapshot(loss ?? outcome.cause.message, next, now),
      });
  }
}

/** The conclusion of code that was evaluated in a frame. The evaluation whose frame it is stays stopped. */
export function concludeInFrame({ values, cutValues, valueCount, ...printed }: FrameValue): Conclusion {
  const transcript = markedOutput({ ...EMPTY_TRANSCRIPT, ...printed });
  const ending = { kind: "values", values, cutValues, count: valueCount } as const;
  return { status: "returned", transcript, ending, isError: false, lastError: { kind: "keep" } };
}

function returned(outcome: Returned): Conclusion {
  const { values, cutValues, valueCount: count, formCount, unshownForms: unshown, idleBreakpoints = [] } = outcome;
  const forms = { count: formCount, unshown };
  const ending = { kind: "values", values, cutValues, count, forms, idleBreakpoints } as const;
  return succeeded(outcome, ending, { kind: "clear" });
}

function stopped(outcome: Stopped, seconds: number | undefined, byUser: boolean): Conclusion {
  const stop = outcome.stop.data;
  const { reason, condition, detail } = stop;
  const error = reason === "interrupt" ? timeoutSnapshot(condition, seconds, detail) : condition;
  const tag = byUser && reason === "interrupt" ? "INTERRUPT" : TAGS[reason];
  const ending = { kind: "condition", tag, error, stop } as const;
  return reason === "error" || reason === "interrupt"
    ? failed("stopped", outcome, ending)
    : succeeded(outcome, ending, { kind: "keep" });
}

function aborted(outcome: Aborted, seconds: number | undefined, byReset: boolean, now: number): Conclusion {
  if (outcome.error !== undefined) {
    return failed("aborted", outcome, { kind: "condition", tag: "ERROR", error: outcome.error });
  }
  if (byReset) return succeeded(outcome, { kind: "aborted", byReset }, { kind: "keep" });
  if (seconds === undefined) return succeeded(outcome, { kind: "aborted" }, { kind: "keep" });
  return failed("aborted", outcome, { kind: "condition", tag: "TIMEOUT", error: killedSnapshot(seconds, now) });
}

function succeeded(outcome: Outcome, ending: Ending, lastError: LastErrorChange): Conclusion {
  return { status: outcome.status, transcript: markedOutput(outcome), ending, isError: false, lastError };
}

function failed(status: Status, transcript: Transcript, ending: ConditionEnding): Conclusion {
  return {
    status,
    transcript: markedOutput(transcript),
    ending,
    isError: true,
    lastError: { kind: "set", error: ending.error },
  };
}
