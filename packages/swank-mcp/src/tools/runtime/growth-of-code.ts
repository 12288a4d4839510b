import type { HeapSummaryOptions } from "swank-client/types";
import { concludeEvaluation, presentedAnswer } from "../../calls/answer-evaluation.js";
import type { ToolContext } from "../../calls/tool-context.js";
import { growthAnswer } from "../../format/heap.js";
import type { ToolAnswer } from "../../text/tool-answer.js";

const STOPPED = "The growth follows when the code returns; growth without code shows it up to now.";

/** Evaluates code between two looks at the heap, and answers with the difference when it has returned. */
export async function growthOfCode(
  code: string,
  options: HeapSummaryOptions,
  seconds: number | undefined,
  context: ToolContext,
): Promise<ToolAnswer> {
  const session = await context.session();
  const run = await session.client.program.heap.growthOf(code, options);
  const { agent, config } = context;
  const evaluation = agent.evaluations.begin(session.client, run.code, {
    valuesAs: "data",
    onError: config.onError,
    policy: "keep",
  });
  let isTold = false;
  agent.evaluations.present(evaluation, {
    answer: async (value) => growthAnswer(await run.growth({ signal: context.cancelled }), run.values(value)),
    unfinished(ending) {
      const mayReturn = ending.kind === "condition" && (ending.stop !== undefined || ending.thread !== undefined);
      const blocks = isTold || !mayReturn ? [] : [STOPPED];
      isTold = true;
      return Promise.resolve({ blocks });
    },
  });
  const conclusion = await concludeEvaluation(evaluation, session, context, seconds ?? config.timeout);
  return presentedAnswer(evaluation, conclusion, context);
}
