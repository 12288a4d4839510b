import { SwankError, type SwankErrorCode, type SwankErrorOptions } from "../base/errors.js";
import type { Limit } from "../base/waiting.js";
import type { Aborted, EvaluateOptions, OutcomeOf, Returned, StopOfTask, Transcript } from "./evaluate.js";
import type { ErrorSnapshot } from "./report.js";

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
