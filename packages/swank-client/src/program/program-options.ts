import type { OptionNames } from "../base/check-arguments.js";
import { QUESTION_OPTIONS, type QuestionOptions } from "../base/question-options.js";

/** Which threads to list, and how. */
export interface ThreadsOptions extends QuestionOptions {
  /** A part of their names, in upper or lower case. Default: all threads. */
  readonly name?: string | undefined;
  /** Number of innermost frames to read of each thread, at most 30. Default: 0, so that no thread is interrupted. */
  readonly frames?: number | undefined;
}

/** The names of {@link ThreadsOptions}. */
export const THREADS_OPTIONS: OptionNames<ThreadsOptions> = { ...QUESTION_OPTIONS, name: true, frames: true };
