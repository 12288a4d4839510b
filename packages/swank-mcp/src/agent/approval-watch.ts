import type { ApprovalRequest } from "./approval-request.js";

/** The end of an approval. */
export interface ApprovalAnswer {
  readonly isAllowed: boolean;
  /** Where it was decided: by the user in the agent's client or in Emacs, or by the server without a question. */
  readonly by: AskedIn | "server";
  /** The user's choice, or the reason, a clause. */
  readonly how: string;
}

/** Where the user is asked. */
export type AskedIn = "client" | "emacs";

/** Called with the answer, once. */
export type Answered = (answer: ApprovalAnswer) => void;

/** Learns of approvals, to record them. Its functions never throw. */
export interface ApprovalWatch {
  /** The user is being asked. Returns the function to call with the answer. */
  asked(request: ApprovalRequest, where: AskedIn): Answered;
  /** A request was allowed or refused without a question. */
  decided(request: ApprovalRequest, answer: ApprovalAnswer): void;
}
