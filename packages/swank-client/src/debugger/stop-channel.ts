import type { Sexp } from "sexp-parser";
import type { UNWOUND } from "../caller.js";
import type { SwankError } from "../errors.js";

/** The way to one stop of one thread, closed for good when the thread leaves it. */
export interface StopChannel {
  /** Swank's id. */
  readonly thread: number;
  readonly level: number;
  readonly isLive: boolean;
  /** Aborted when the thread leaves the stop. */
  readonly ended: AbortSignal;

  /**
   * Runs a form in the stopped thread, which stays as it was.
   *
   * @param timeout - Milliseconds.
   * @throws SwankError `STALE_SESSION`, and what `Caller.call` throws.
   */
  ask(form: Sexp, label: string, timeout?: number): Promise<Sexp>;

  /**
   * Runs a form about the stopped thread in another one.
   *
   * @throws SwankError what `Caller.call` throws.
   */
  askAside(form: Sexp, label: string): Promise<Sexp>;

  /**
   * Runs a form that makes the thread leave the stop, or may do so.
   *
   * @param timeout - Milliseconds.
   * @returns `UNWOUND` when it has left, or the form's value when it refused.
   * @throws SwankError `STALE_SESSION`, `REQUEST_ABORTED` when the form was unwound without leaving, and what `Caller.callUnwinding` throws.
   */
  leave(form: Sexp, label: string, timeout?: number): Promise<Sexp | typeof UNWOUND>;

  /** The error that says that the stop has ended. */
  stale(label: string): SwankError;
}
