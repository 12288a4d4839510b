import * as z from "zod";
import { concludeEvaluation, presentedAnswer } from "../../calls/answer-evaluation.js";
import { defineTool } from "../../calls/define-tool.js";
import { timeoutInput } from "../../calls/stop-inputs.js";
import { loadedChangesAnswer } from "../../format/loaded-changes.js";

export const loadChanges = defineTool({
  name: "load-changes",
  family: "code",
  effect: "evaluates",
  title: "Load changes",
  description:
    "Use after you edit files that are loaded: compiles and loads only the top-level forms that changed, in order, in their package, with their places in the file. Says what needs more: users of changed macros, structures, readtables, deleted forms.",
  input: (config) =>
    z.strictObject({
      file: z.string().min(1).optional().describe("Only this source file (default: all that are loaded)"),
      timeout: timeoutInput(config),
    }),
  async run({ file, timeout }, context) {
    const session = await context.session();
    const { onError, policy } = context.config;
    const { code, results } = await session.client.code.loadChanges({ file, signal: context.signal });
    const evaluation = context.agent.evaluations.begin(session.client, code, { valuesAs: "data", onError, policy });
    context.agent.evaluations.present(evaluation, {
      answer: (value) => loadedChangesAnswer(results(value), file, context.guide),
    });
    const seconds = timeout ?? context.config.timeout;
    return presentedAnswer(evaluation, await concludeEvaluation(evaluation, session, context, seconds), context);
  },
});
