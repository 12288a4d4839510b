import * as z from "zod";
import { concludedAnswer, concludeEvaluation } from "../../calls/answer-evaluation.js";
import { defineTool } from "../../calls/define-tool.js";
import { timeoutInput } from "../../calls/stop-inputs.js";
import { Refusal } from "../../refusals/refusal.js";
import { holdsForm } from "../../text/holds-form.js";

/** Characters that the client keeps from the end of an output stream, in addition to its beginning. */
const OUTPUT_TAIL = 4000;

export const evaluateLisp = defineTool({
  name: "evaluate-lisp",
  family: "core",
  effect: "evaluates",
  title: "Evaluate Lisp",
  description: ({ tools }) =>
    `Evaluate Common Lisp code in the live image and report printed output, warnings and the values of the last form, or the error with its backtrace. State persists between calls: definitions, variables, the current package. Several forms are evaluated in order. An error leaves its thread stopped${tools.includes("debug") ? " with frames and restarts alive" : ""}; other calls still run. Unbalanced code is refused with line and column, and none of it runs; any other error leaves the forms before it evaluated.`,
  input: (config) =>
    z.strictObject({
      code: z.string().describe("One or more forms, e.g. (defun sq (x) (* x x)) (sq 5)"),
      package: z.string().min(1).optional().describe("Package to read and evaluate in, for this call only"),
      timeout: timeoutInput(config),
      stdin: z.string().optional().describe("Standard input of the code, followed by end of file"),
    }),
  async run({ code, package: packageName, timeout, stdin }, context) {
    if (!holdsForm(code)) throw new Refusal("EMPTY_CODE", "The code contains no form, so nothing was evaluated.");
    const session = await context.session();
    const { onError, policy, maxOutput, maxValue } = context.config;
    const evaluation = context.agent.evaluations.begin(session.client, code, {
      package: packageName,
      stdin,
      onError,
      policy,
      outputLimit: maxOutput - OUTPUT_TAIL,
      valueLimit: maxValue,
    });
    const seconds = timeout ?? context.config.timeout;
    return concludedAnswer(await concludeEvaluation(evaluation, session, context, seconds), context);
  },
});
