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
  if (result.status === "returned") task.ended({ status: "returned", values: result.values, valueCount: result.count });
  else if (result.status === "aborted") task.ended({ status: "aborted" });
  else task.ended({ status: "aborted", error: explainReadFailure(code, result.error, result.failure) });
}
