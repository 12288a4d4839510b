import type { EvaluateOptions, RunCode } from "swank-client/types";
import { concludeEvaluation, presentedAnswer } from "../../calls/answer-evaluation.js";
import type { ToolContext } from "../../calls/tool-context.js";
import type { ToolAnswer } from "../../text/tool-answer.js";

/** Seconds that an evaluation has besides those for which it watches the program. */
export const WATCH_MARGIN = 60;

/**
 * Evaluates code that profiles or traces, and answers with what it has found, also if the code has stopped.
 *
 * @param seconds - Time that it has. Default: as configured.
 * @param policy - How the code is compiled.
 */
export async function answerRun<Result>(
  { code, result, progress }: RunCode<Result>,
  seconds: number | undefined,
  context: ToolContext,
  answer: (found: Result) => ToolAnswer,
  policy: EvaluateOptions["policy"] = "keep",
): Promise<ToolAnswer> {
  const session = await context.session();
  const { agent, config } = context;
  const options = { valuesAs: "data", onError: config.onError, policy } as const;
  const evaluation = agent.evaluations.begin(session.client, code, options);
  let isTold = false;
  agent.evaluations.present(evaluation, {
    answer: (value) => answer(result(value)),
    async unfinished() {
      const found = isTold ? undefined : await progress().catch(() => undefined);
      if (found === undefined) return { blocks: [] };
      // A stop ends the run: later stops of the same evaluation have nothing to add.
      isTold = true;
      return answer(found);
    },
  });
  const conclusion = await concludeEvaluation(evaluation, session, context, seconds ?? config.timeout);
  return presentedAnswer(evaluation, conclusion, context);
}
