import type { DebuggerSession } from "../debugger/debugger-session.js";
import type { SwankError } from "../errors.js";

/** A warning or compiler note signalled while code was read, compiled or run. */
export interface LispWarning {
  /** `COMPILER-WARNING` is a compiler note. */
  readonly type: "WARNING" | "STYLE-WARNING" | "COMPILER-WARNING";
  /** The exact condition class, package-qualified. */
  readonly class: string;
  readonly message: string;
}

/** One entry of a backtrace. */
export interface FrameSummary {
  /** Swank's frame number, 0 is the innermost. */
  readonly index: number;
  /** The call as Lisp prints it, on one line, e.g. `(FACT 3)`. */
  readonly call: string;
  /** `user`: code being debugged. `machinery`: Lisp's own frames above it. `host`: evaluator, Swank and runtime below it. */
  readonly kind: "user" | "machinery" | "host";
}

/** A restart, as offered at a stop. */
export interface Restart {
  /** Position in the stop's restart list, from 0, innermost first. */
  readonly index: number;
  /** Name as printed, `""` for an anonymous restart. */
  readonly name: string;
  readonly description: string;
}

/** A variable of a frame, or a slot of a condition, with its value as Lisp prints it. */
export interface Binding {
  readonly name: string;
  readonly value: string;
}

/** Everything that is known of a condition that stopped or ended an evaluation; plain data that outlives its thread. */
export interface ErrorSnapshot {
  /** What to show: the most specific standard superclass for Lisp's own classes, the class itself otherwise. */
  readonly type: string;
  /** Exact class, package-qualified, e.g. `SB-INT:SIMPLE-READER-ERROR`. */
  readonly class: string;
  /** Class precedence list without `T` and slot-object, most specific first. */
  readonly supertypes: readonly string[];
  readonly message: string;
  readonly slots: readonly Binding[];
  readonly restarts: readonly Restart[];
  /** The innermost frames, at most 200. */
  readonly frames: readonly FrameSummary[];
  readonly totalFrames: number;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
}

export type StopReason = "error" | "break" | "breakpoint" | "step" | "interrupt";

/** What is known of a stop besides its condition. */
export interface StopDetail {
  /** `step`: the call that is about to be made, as its source has it. */
  readonly form?: string | undefined;
  /** `breakpoint`: the one that was reached. */
  readonly breakpoint?: number | undefined;
}

/** What every outcome carries: everything printed and warned since the previous outcome was taken. */
export interface Transcript {
  readonly stdout: string;
  readonly stderr: string;
  /** The first 100. */
  readonly warnings: readonly LispWarning[];
  /** How many more there were. */
  readonly warningsOmitted: number;
  /** The session's package, e.g. `COMMON-LISP-USER`. */
  readonly package: string;
}

export interface Returned extends Transcript {
  readonly status: "returned";
  /** Printed values of the last form, the first 50, each within limits; empty for `(values)` and for code without forms. */
  readonly values: readonly string[];
  /** How many the last form gave. */
  readonly valueCount: number;
}

export interface Stopped extends Transcript {
  readonly status: "stopped";
  readonly reason: StopReason;
  readonly detail: StopDetail;
  /** The condition, also for stops that are not errors. */
  readonly error: ErrorSnapshot;
  /** The debugger session of the stop; live until the stop ends. */
  readonly session: DebuggerSession;
  /** Variables of the first frame that is the user's own. */
  readonly locals: readonly Binding[];
}

export interface Aborted extends Transcript {
  readonly status: "aborted";
  /**
   * The error that ended the evaluation without a live stop: code that cannot be read or compiled, errors under `onError: "unwind"`, and errors that would have
   * parked a lock that the whole image needs. Absent when it was aborted on purpose.
   */
  readonly error?: ErrorSnapshot;
}

/** Connection or image went away before the evaluation ended. It is not known how far it got. */
export interface Lost extends Transcript {
  readonly status: "lost";
  readonly cause: SwankError;
}

/** How an evaluation goes on: given by `Evaluation.next()` only. */
export type Outcome = Returned | Stopped | Aborted | Lost;
