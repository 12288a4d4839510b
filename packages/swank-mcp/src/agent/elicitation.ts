/** A question to the client's user, with the answers to choose from. */
export interface Question {
  readonly message: string;
  readonly choices: readonly [string, ...string[]];
}

/** The result of a question. */
export type Reply =
  | { readonly kind: "chosen"; readonly choice: string }
  /** The user declined or dismissed the question. */
  | { readonly kind: "declined" }
  /** The time was up, after so many seconds if that was earlier than asked for. */
  | { readonly kind: "unanswered"; readonly seconds?: number }
  /** The client has no way to ask, although it says so. */
  | { readonly kind: "unable" }
  /** The question did not reach the user, or the answer did not come back; `why` is a clause without a full stop. */
  | { readonly kind: "failed"; readonly why: string };

export interface AskOptions {
  /** Milliseconds that the user has to answer. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** Asks the user. Never rejects. */
export type Ask = (question: Question, options: AskOptions) => Promise<Reply>;
