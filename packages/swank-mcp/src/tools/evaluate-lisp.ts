import * as z from "zod";
import { answerEvaluation } from "../answer-evaluation.js";
import { holdsForm } from "../holds-form.js";
import { Refusal } from "../refusal.js";
import { defineTool } from "../tool.js";

/** A day: what takes longer is not waited for by a tool call. */
const MAX_SECONDS = 86_400;

/** Characters that the client keeps of the end of an output stream, besides the beginning. */
const OUTPUT_TAIL = 4000;

export const evaluateLisp = defineTool({
  name: "evaluate-lisp",
  title: "Evaluate Lisp",
  description:
    "Evaluate Common Lisp code in the live image and report printed output, warnings and the values of the last form, or the error with its backtrace. State persists between calls: definitions, variables, the current package. Several forms are evaluated in order. An error leaves its thread stopped with frames and restarts alive; other calls go on meanwhile. Unbalanced code is refused with line and column, and nothing of it runs.",
  input: z.strictObject({
    code: z.string().describe("One or more forms, e.g. (defun sq (x) (* x x)) (sq 5)"),
    package: z.string().min(1).optional().describe("Package to read and evaluate in, for this call only"),
    timeout: z
      .number()
      .gt(0)
      .max(MAX_SECONDS)
      .optional()
      .describe("Seconds until the code is interrupted (default 30)"),
    stdin: z.string().optional().describe("What the code reads from standard input; then end of file"),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  async run({ code, package: packageName, timeout, stdin }, context) {
    if (!holdsForm(code)) throw new Refusal("EMPTY_CODE", "The code holds no form, so nothing was evaluated.");
    const session = await context.session();
    const { onError, policy, maxOutput, maxValue } = context.config;
    const evaluation = context.outputs.evaluate(session.client, code, {
      package: packageName,
      stdin,
      onError,
      policy,
      outputLimit: maxOutput - OUTPUT_TAIL,
      valueLimit: maxValue,
    });
    return answerEvaluation(evaluation, session, context, timeout ?? context.config.timeout);
  },
});
