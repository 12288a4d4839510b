import type { SwankError } from "../base/errors.js";
import type { IdleBreakpoint } from "../calls/breakpoint.js";
import type { ErrorSnapshot } from "../calls/condition.js";
import type { CutValue } from "../calls/evaluate.js";
import type { OmittedOutput, OutputChunk } from "../calls/omitted-output.js";
import type { Redefinitions } from "../calls/redefinition.js";
import type { SignalledConditions } from "../calls/signalled-condition.js";
import type { LispWarning, WarningCount } from "../calls/warning.js";

/** The fields of all outcomes: output, warnings and redefinitions since the previous outcome was taken. */
export interface Transcript {
  readonly stdout: string;
  readonly stderr: string;
  /**
   * The text of both streams, in the order in which the code finished it (`finish-output`, `force-output`). The streams buffer text that is not
   * finished, up to 30 ms.
   */
  readonly output: readonly OutputChunk[];
  /** Where output is missing from `stdout` and `stderr`, and how much, in the order of each text; empty if they are complete. */
  readonly outputOmitted: readonly OmittedOutput[];
  /** The first 100 of the evaluation's own forms, and then the first 50 of files that it loads or compiles, without compiler notes. */
  readonly warnings: readonly LispWarning[];
  /** The numbers of all warnings of files, by file and type. */
  readonly warningsInFiles: readonly WarningCount[];
  /** The number of warnings that are neither in `warnings` nor counted in `warningsInFiles`. */
  readonly warningsOmitted: number;
  /** These are no warnings: a program that is being changed redefines on purpose. */
  readonly redefinitions: Redefinitions;
  /** What was signalled, and which handlers took it; only with the option `conditions`. */
  readonly conditions?: SignalledConditions;
  /** The session's package, e.g. `COMMON-LISP-USER`. */
  readonly package: string;
  /** Time since the request was sent or, after a stop, since the thread resumed; `undefined` if the request was not sent. */
  readonly milliseconds: number | undefined;
}

export interface Returned extends Transcript {
  readonly status: "returned";
  /** Printed values of the last form, the first 50, each within limits; empty for `(values)` and for code without forms. */
  readonly values: readonly string[];
  /** Those of `values` that do not show everything. */
  readonly cutValues: readonly CutValue[];
  /** The number of values of the last form. */
  readonly valueCount: number;
  /** The number of forms that were evaluated. */
  readonly formCount: number;
  /** The numbers, from 1, of the forms before the last whose values said more than the name of a definition. */
  readonly unshownForms: readonly number[];
  /** This client's breakpoints that have stopped and printed nothing so far; absent if there are none. */
  readonly idleBreakpoints?: readonly IdleBreakpoint[];
}

/** @typeParam Stop - `Stop`, which is not imported here because it imports this file. */
export interface StoppedOf<Stop> extends Transcript {
  readonly status: "stopped";
  /** Usable until the thread resumes. Its `data` stays available. */
  readonly stop: Stop;
}

export interface Aborted extends Transcript {
  readonly status: "aborted";
  /**
   * The error that ended the evaluation without a stop: code that cannot be read or compiled, errors under `onError: "unwind"`, and errors
   * in a thread that held a lock that the whole image needs. Absent if the evaluation was aborted on request.
   */
  readonly error?: ErrorSnapshot;
}

/** The connection or the image ended before the evaluation did. Its progress is unknown. */
export interface Lost extends Transcript {
  readonly status: "lost";
  /** Its `details.exit` says how an image ended that `launch` started: exit code or signal, and its last output. */
  readonly cause: SwankError;
}

/** A result of `Evaluation.next()`. */
export type OutcomeOf<Stop> = Returned | StoppedOf<Stop> | Aborted | Lost;

/** An outcome without the fields that all outcomes have. */
export type BareOutcome<Stop> =
  | Omit<Returned, keyof Transcript>
  | Omit<StoppedOf<Stop>, keyof Transcript>
  | Omit<Aborted, keyof Transcript>
  | Omit<Lost, keyof Transcript>;
