import type { OptionNames } from "./check-options.js";

/** How to wait for the image's answer. */
export interface QuestionOptions {
  /** Ends the wait when aborted; what was asked for may be done all the same. */
  readonly signal?: AbortSignal | undefined;
}

export const QUESTION_OPTIONS: OptionNames<QuestionOptions> = { signal: true };
