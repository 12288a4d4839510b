import { type Conclusion, conclude } from "./conclusion.js";
import { followEvaluation } from "./follow-evaluation.js";
import { liveStopText } from "./format/live-stop.js";
import { OUTCOME_META, outcomeData } from "./format/outcome-data.js";
import { reportText } from "./format/report.js";
import { hangRemedy, isHung } from "./hung-image.js";
import type { Evaluation } from "./lisp-port.js";
import type { LispSession } from "./lisp-session.js";
import { Refusal } from "./refusal.js";
import type { ToolContext } from "./tool.js";
import type { ToolAnswer } from "./tool-answer.js";

/**
 * Waits for what becomes of an evaluation and reports it; for evaluate-lisp and every tool that resumes one.
 *
 * @param seconds - Time until the evaluation is interrupted.
 * @throws Refusal `CANCELLED`; SwankError - what the client reports.
 */
export async function answerEvaluation(
  evaluation: Evaluation,
  session: LispSession,
  context: ToolContext,
  seconds: number,
): Promise<ToolAnswer> {
  const { resets } = session;
  context.outputs.listen(evaluation, (chunk) => context.progress(chunk.text, chunk.stream));
  const { cancelled, signal: interrupt } = context;
  const followed = await followEvaluation(evaluation, { seconds, signal: cancelled, interrupt });
  if (followed.kind === "cancelled")
    throw new Refusal("CANCELLED", "The call was cancelled; its evaluation was aborted.");
  const outcome = followed.kind === "running" ? undefined : followed.outcome;
  if (outcome !== undefined) session.follow(outcome.package);
  const loss = outcome?.status === "lost" ? await session.explainLoss() : undefined;
  const isStuck = followed.kind === "running" && (await isHung(session, context.cancelled));
  const hang = isStuck ? hangRemedy(session) : undefined;
  const conclusion = conclude(followed, { loss, hang, reset: session.isRetired || session.resets !== resets });
  context.lastError.apply(conclusion.lastError);
  if (outcome?.status === "stopped") context.stops.add(outcome.session, evaluation);
  return concludedAnswer(conclusion, context.config.maxValue);
}

/**
 * What a tool answers that reports how an evaluation ended or stopped.
 *
 * @param maxValue - Characters that Lisp prints of each value.
 */
export function concludedAnswer(conclusion: Conclusion, maxValue: number): ToolAnswer {
  const { ending, isError } = conclusion;
  const live =
    ending.kind === "condition" && ending.stop !== undefined ? [liveStopText(ending.stop, ending.error)] : [];
  return {
    blocks: [reportText(conclusion, maxValue), ...live],
    isError,
    meta: { [OUTCOME_META]: outcomeData(conclusion, maxValue) },
  };
}
