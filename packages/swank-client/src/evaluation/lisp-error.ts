import { SwankError } from "../base/errors.js";
import type { ErrorSnapshot } from "../calls/condition.js";
import type { Transcript } from "./outcome.js";

/** An error in Lisp code that `eval` ran, with code `LISP_ERROR`. Its message is the condition's type and report. */
export class LispError extends SwankError {
  override readonly name = "LispError";
  /** The condition with its restarts, slots and frames, as they were before the stack was unwound. */
  readonly report: ErrorSnapshot;
  /** The output and the warnings up to the error. */
  readonly transcript: Transcript;

  constructor(report: ErrorSnapshot, transcript: Transcript) {
    super("LISP_ERROR", `${report.type}: ${report.message}`);
    this.report = report;
    this.transcript = transcript;
  }
}
