import { SwankError } from "../errors.js";
import { lispProblem } from "./lisp-problem.js";

/** What went wrong, for a note to the user: the message, and what Lisp said about it. */
export function problemText(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const said = error instanceof SwankError ? lispProblem(error.details.output ?? "") : "";
  return said === "" ? message : `${message}\n${said}`;
}
