import { SwankError } from "../errors.js";

/** Characters of what a Lisp printed that a note can hold. */
const MOST_OUTPUT = 500;

/** What went wrong, for a note to the user: the message, and the last that Lisp said. */
export function problemText(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const output = error instanceof SwankError ? (error.details.output ?? "").trim() : "";
  return output === "" ? message : `${message}\n${output.slice(-MOST_OUTPUT)}`;
}
