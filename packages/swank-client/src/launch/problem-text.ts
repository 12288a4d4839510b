import { SwankError } from "../base/errors.js";
import { lispProblem } from "./lisp-problem.js";

/** Text about an error for a note to the user: its message, and Lisp's output about it. */
export function problemText(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const said = error instanceof SwankError ? lispProblem(error.details.output ?? "") : "";
  return said === "" ? message : `${message}\n${said}`;
}
