/** How to wait for the image's answer. */
export interface QuestionOptions {
  /** Ends the wait when aborted; what was asked for may be done all the same. */
  readonly signal?: AbortSignal | undefined;
}
