import type { OptionNames } from "../base/check-arguments.js";
import { QUESTION_OPTIONS, type QuestionOptions } from "../base/question-options.js";
import type { PROFILE_MODES } from "../calls/profile-data.js";

/** Which threads to list, and how. */
export interface ThreadsOptions extends QuestionOptions {
  /** Only the thread with Swank's id. */
  readonly id?: number | undefined;
  /** A part of their names, in upper or lower case. Default: all threads. */
  readonly name?: string | undefined;
  /** Number of innermost frames to read of each thread, at most 30. Default: 0, so that no thread is interrupted. */
  readonly frames?: number | undefined;
}

/** How much of an object to show. */
export interface InspectObjectOptions extends QuestionOptions {
  /** Indexes of parts: that of a part of the object, of a part of that part, and so on. Default: the object itself. */
  readonly path?: readonly number[] | undefined;
  /** The Lisp expression for the object, from which those of its parts are made. Default: `(swank-objects:ref ID)`. */
  readonly expression?: string | undefined;
  /** The first part, from 0. Default: 0. */
  readonly start?: number | undefined;
  /** Number of parts, at most 500. Default: 50. */
  readonly count?: number | undefined;
  /** Levels of parts, at most 5: 0 for none, 2 for the parts of parts, too, and so on. Default: 1. */
  readonly depth?: number | undefined;
  /** Keeps the object alive, until it is released, 100 others are kept, the session is reset or the client disconnects. Default: false. */
  readonly keep?: boolean | undefined;
}

/** The names of {@link InspectObjectOptions}. */
export const INSPECT_OBJECT_OPTIONS: OptionNames<InspectObjectOptions> = {
  ...QUESTION_OPTIONS,
  path: true,
  expression: true,
  start: true,
  count: true,
  depth: true,
  keep: true,
};

/** The names of {@link ThreadsOptions}. */
export const THREADS_OPTIONS: OptionNames<ThreadsOptions> = { ...QUESTION_OPTIONS, id: true, name: true, frames: true };

/** What to profile: code, or all threads for some seconds, at most 3600. */
export type ProfileSource =
  | {
      readonly code: string;
      /** Code to compare with: both then run 3 to 15 times more, in turn. Default: none. */
      readonly against?: string | undefined;
    }
  | { readonly seconds: number };

/** How to profile. */
export interface ProfileOptions extends QuestionOptions {
  /** Default: `cpu`. */
  readonly mode?: (typeof PROFILE_MODES)[number] | undefined;
  /**
   * Name of the package whose functions count. Functions that they call count as part of them. In mode `calls`, all functions of the package
   * are counted, at most 2,000. Default: all functions; none in mode `calls`.
   */
  readonly package?: string | undefined;
  /** In mode `calls`: functions and methods to count, named as in {@link TraceOptions}. Default: none. */
  readonly functions?: readonly string[] | undefined;
}

/** The names of {@link ProfileOptions}. */
export const PROFILE_OPTIONS: OptionNames<ProfileOptions> = {
  ...QUESTION_OPTIONS,
  mode: true,
  package: true,
  functions: true,
};

/** While what to trace: code, or all threads for some seconds, at most 3600. */
export type TraceSource = { readonly code: string } | { readonly seconds: number };

/** What to trace. */
export interface TraceOptions extends QuestionOptions {
  /** Names as code writes them: `my-app:process`, `(setf name)`, `(method name (class))`. Default: none. */
  readonly functions?: readonly string[] | undefined;
  /** Name of a package all of whose functions are traced, at most 2,000. Default: none. */
  readonly package?: string | undefined;
  /**
   * Lisp code; calls for which it is false are not recorded. It can use the functions' parameters by their names, and the argument list as
   * `args`. Default: all calls.
   */
  readonly condition?: string | undefined;
  /** Swank's ids of the threads. Default: that of the code, and those that it starts; with `seconds` all. */
  readonly threads?: readonly number[] | undefined;
  /** Number of calls, at most 100,000, after which the trace ends by itself. Default: 10,000. */
  readonly limit?: number | undefined;
}

/** The names of {@link TraceOptions}. */
export const TRACE_OPTIONS: OptionNames<TraceOptions> = {
  ...QUESTION_OPTIONS,
  functions: true,
  package: true,
  condition: true,
  threads: true,
  limit: true,
};
