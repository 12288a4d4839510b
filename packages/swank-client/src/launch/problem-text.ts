import { lispProblem } from "./lisp-problem.js";

/** What Lisp printed about a problem, as text after a message that ends with a full stop; empty if it printed nothing. */
export function printedText(output: string): string {
  const said = lispProblem(output);
  return said === "" ? "" : ` Lisp printed:\n${said}`;
}
