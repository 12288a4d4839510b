/** A question to the person who uses the client, with the answers to choose from. */
export interface Question {
  readonly message: string;
  readonly choices: readonly [string, ...string[]];
}

/** What came of a question. */
export type Reply =
  | { readonly kind: "chosen"; readonly choice: string }
  /** Declined or dismissed. */
  | { readonly kind: "declined" }
  /** The time was up. */
  | { readonly kind: "unanswered" }
  /** The question did not reach the person, or its answer did not come back; `why` is a clause without a full stop. */
  | { readonly kind: "failed"; readonly why: string };

export interface AskOptions {
  /** Milliseconds that the person has. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** Asks the person. Never rejects. */
export type Ask = (question: Question, options: AskOptions) => Promise<Reply>;
