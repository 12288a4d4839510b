import type { FrameSummary } from "../evaluation/outcome.js";
import type { WaitOptions } from "../evaluation/outcome-slot.js";

/** Where code came from: a place in a file on the image's machine, or the form itself when it was evaluated. */
export type Source =
  | {
      readonly file: string;
      /** From 1; absent when the file cannot be read there any more. */
      readonly line: number | undefined;
      /** From 1, in characters. */
      readonly column: number | undefined;
    }
  /** The form as Lisp prints it; `#:***HERE***` marks the call that is under way. */
  | { readonly form: string };

/** A variable of a frame. */
export interface Variable {
  readonly name: string;
  /** Printed within limits, on one line. */
  readonly value: string;
  /** `(swank-objects:ref N)` gives the object in evaluated code, as long as the thread is stopped there. */
  readonly objectId: number;
}

/** One frame of a stopped thread. */
export interface Frame extends FrameSummary {
  /** The function's name with its package, e.g. `MY-APP:COMPUTE`. */
  readonly function: string;
  /** It can be restarted and returned from. */
  readonly restartable: boolean;
  readonly source: Source | undefined;
  /** The first 100. */
  readonly locals: readonly Variable[];
  /** How many there are. */
  readonly totalLocals: number;
}

/** A range of a thread's frames. */
export interface FramePage {
  readonly frames: readonly Frame[];
  /** All that the thread has. */
  readonly totalFrames: number;
}

/** What can be seen in one frame. */
export interface FrameLocals {
  /** The first 100. */
  readonly locals: readonly Variable[];
  /** How many there are. */
  readonly totalLocals: number;
  readonly catchTags: readonly string[];
}

/** How to evaluate in a frame. */
export interface FrameEvaluationOptions extends WaitOptions {
  /** Characters of each printed value that are sent; of all values together never more than 1,000,000. Default: 20,000. */
  readonly valueLimit?: number | undefined;
}

/** What evaluating in a frame gave. */
export interface FrameValue {
  /** The first 50, each printed within limits. */
  readonly values: readonly string[];
  /** How many there were. */
  readonly valueCount: number;
  /** What it printed, standard output and error output together. */
  readonly output: string;
}
