import type { OptionNames } from "./check-arguments.js";

/** Options for waiting for the image's answer. */
export interface QuestionOptions {
  /** Ends the wait when aborted. The image may still complete the request. */
  readonly signal?: AbortSignal | undefined;
}

export const QUESTION_OPTIONS: OptionNames<QuestionOptions> = { signal: true };
