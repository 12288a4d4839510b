import type { QuestionOptions } from "../question-options.js";
import type { StopOwner } from "./stop-owner.js";

/** A breakpoint on a function. */
export interface Breakpoint {
  readonly id: number;
  /** The function's name with its package, or the method. */
  readonly function: string;
  /** Lisp code that decides; it knows the argument list as `args`. */
  readonly condition: string | undefined;
  /** The first matching call that stops; `undefined` for the first. */
  readonly hitCount: number | undefined;
  /** Swank's id of the thread that it is for, or `any`; `undefined` for this client's evaluations. */
  readonly thread: number | "any" | undefined;
  /** Matching calls so far. */
  readonly hits: number;
  /**
   * `failed`: its condition signalled an error, was reported once, and it does not fire any more. `lost`: what it stood on was
   * undefined, or replaced without a definition, since.
   */
  readonly state: "armed" | "failed" | "lost";
  /** What the condition signalled. */
  readonly failure: string | undefined;
}

/** When a breakpoint stops. */
export interface BreakpointOptions extends QuestionOptions {
  /** Lisp code that decides; it knows the argument list as `args`. Default: always. */
  readonly condition?: string | undefined;
  /** The first matching call that stops, then every one. Default: 1. */
  readonly hitCount?: number | undefined;
  /** Swank's id of a thread, or `any`. Default: this client's evaluations. */
  readonly thread?: number | "any" | undefined;
  /** The package in which name and condition are read. Default: the session's. */
  readonly package?: string | undefined;
}

/** A breakpoint that was set. */
export interface NewBreakpoint extends Breakpoint {
  /** Which calls it cannot see, if there are such. */
  readonly warning: string | undefined;
}

/** A thread of another client that stopped at a breakpoint of this one, in that other client's debugger. */
export interface HitElsewhere {
  /** The breakpoint's id. */
  readonly breakpoint: number;
  /** What the breakpoint is on. */
  readonly function: string;
  /** Swank's id of the thread. */
  readonly thread: number;
  readonly threadName: string;
  readonly owner: StopOwner;
}
