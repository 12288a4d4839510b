import * as z from "zod";
import { concludeEvaluation, presentedAnswer } from "../../calls/answer-evaluation.js";
import { defineTool } from "../../calls/define-tool.js";
import { timeoutInput } from "../../calls/stop-inputs.js";
import { testsAnswer } from "../../format/test-results.js";

export const runTests = defineTool({
  name: "run-tests",
  family: "code",
  effect: "evaluates",
  title: "Run tests",
  description:
    "Run the tests of a system (loaded first), or a suite, test or package of tests (FiveAM, Parachute, Rove, lisp-unit2, sb-rt): counts, and each failure with form, values and place. Other frameworks: only what they print.",
  input: (config) =>
    z.strictObject({
      name: z.string().min(1).describe("System, suite (tag), test or package"),
      framework: z
        .enum(["fiveam", "parachute", "rove", "lisp-unit2", "sb-rt", "asdf"])
        .optional()
        .describe("Where to find it (asdf: a system)"),
      "stop-on-failure": z.boolean().optional().describe("Stop in the first failure (default false)"),
      timeout: timeoutInput(config),
    }),
  async run({ name, framework, timeout, ...args }, context) {
    const session = await context.session();
    const { policy } = context.config;
    const stopOnFailure = args["stop-on-failure"] === true;
    const { signal } = context;
    const { code, results } = await session.client.code.tests(name, { framework, stopOnFailure, signal });
    const onError = stopOnFailure ? "stop" : context.config.onError;
    const evaluation = context.agent.evaluations.begin(session.client, code, { valuesAs: "data", onError, policy });
    context.agent.evaluations.present(evaluation, {
      answer: (value, { redefinitions }) => testsAnswer(results(value), redefinitions, framework, context.guide),
    });
    const seconds = timeout ?? context.config.timeout;
    return presentedAnswer(evaluation, await concludeEvaluation(evaluation, session, context, seconds), context);
  },
});
