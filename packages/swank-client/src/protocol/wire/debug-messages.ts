import type { Sexp } from "sexp-parser";

/** The condition of a stop, as Swank prints it. */
export interface WireCondition {
  readonly message: string;
  /** Its class, as Lisp prints it, e.g. `SIMPLE-ERROR`. */
  readonly type: string;
  /** Such as `(:references ...)` and `(:show-frame-source 0)`. */
  readonly extras: readonly Sexp[];
}

/** A restart, in the order of the stop's list. */
export interface WireRestart {
  /** Empty for an anonymous restart. */
  readonly name: string;
  readonly description: string;
  /** True if it returns to where the request began (Swank marks it with an asterisk). */
  readonly topLevel: boolean;
}

/** An entry of a backtrace. */
export interface WireFrame {
  /** 0 is the innermost. */
  readonly index: number;
  /** The call on one line, e.g. `(FACT 3)`. */
  readonly call: string;
  readonly restartable: boolean;
}

/** A thread stopped in the debugger. Sent again whenever the thread returns to the level. */
export interface DebugMessage {
  readonly type: "debug";
  readonly thread: number;
  /** 1 for the first level, one more for every stop inside a stop. */
  readonly level: number;
  readonly condition: WireCondition;
  readonly restarts: readonly WireRestart[];
  /** The innermost 20. */
  readonly frames: readonly WireFrame[];
  /** Ids of the requests that wait for this thread, innermost first; empty for threads that Swank did not start. */
  readonly continuations: readonly number[];
}

/** The stop at this level is ready for requests. */
export interface DebugActivateMessage {
  readonly type: "debug-activate";
  readonly thread: number;
  readonly level: number;
  readonly select: boolean;
}

/** The thread left this level. */
export interface DebugReturnMessage {
  readonly type: "debug-return";
  readonly thread: number;
  readonly level: number;
  /** True if it left by a step, so that another stop may follow. */
  readonly stepping: boolean;
}

/** An error inside the debugger itself, or the answer to interrupting a thread that does not exist. */
export interface DebugConditionMessage {
  readonly type: "debug-condition";
  readonly thread: number;
  readonly message: string;
}

/** The messages about stopped threads. */
export type DebuggerMessage = DebugMessage | DebugActivateMessage | DebugReturnMessage | DebugConditionMessage;
