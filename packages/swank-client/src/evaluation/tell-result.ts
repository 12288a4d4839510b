import { SwankError } from "../errors.js";
import type { EvaluationResult } from "../runtime/decode-result.js";
import type { EvaluationTask } from "./evaluation-task.js";
import { explainReadFailure } from "./read-failure.js";

/** Tells an evaluation how it ended in the image. */
export function tellResult(task: EvaluationTask, code: string, result: EvaluationResult): void {
  if (result.status === "no-such-package") {
    task.refused(new SwankError("NO_SUCH_PACKAGE", `There is no package named ${result.name}.`));
    return;
  }
  task.report(result.ending);
  if (result.status === "returned") task.ended({ status: "returned", values: withCount(result.values, result.count) });
  else if (result.status === "aborted") task.ended({ status: "aborted" });
  else task.ended({ status: "aborted", error: explainReadFailure(code, result.error, result.failure) });
}

/** Lisp sends the first values only; a last line says how many there were. */
function withCount(values: readonly string[], count: number): readonly string[] {
  if (count <= values.length) return values;
  return [...values, `[${values.length} of ${count} values shown]`];
}
