import { SwankError, type SwankErrorCode, type SwankErrorOptions } from "../base/errors.js";
import type { ErrorSnapshot } from "../calls/condition.js";
import type { Transcript } from "./outcome.js";

/** An error of `eval` after its code was sent: the code signalled an error, took too long, was cancelled, or its image was lost. */
export class EvaluationError extends SwankError {
  override readonly name: string = "EvaluationError";
  /** The output and the warnings up to the error. */
  readonly transcript: Transcript;

  constructor(code: SwankErrorCode, message: string, transcript: Transcript, options: SwankErrorOptions = {}) {
    super(code, message, options);
    this.transcript = transcript;
  }
}

/** An error in Lisp code that `eval` ran, with code `LISP_ERROR`. Its message is the condition's type and report. */
export class LispError extends EvaluationError {
  override readonly name = "LispError";
  /** The condition with its restarts, slots and frames, as they were before the stack was unwound. */
  readonly report: ErrorSnapshot;

  constructor(report: ErrorSnapshot, transcript: Transcript) {
    super("LISP_ERROR", `${report.type}: ${report.message}`, transcript);
    this.report = report;
  }
}
