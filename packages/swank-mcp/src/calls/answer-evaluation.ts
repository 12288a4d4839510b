import { setImmediate } from "node:timers/promises";
import { type Conclusion, conclude } from "../evaluation/conclusion.js";
import { followEvaluation } from "../evaluation/follow-evaluation.js";
import { reportFrames } from "../format/backtrace.js";
import { packageLine, sourceLine } from "../format/frames.js";
import { liveStopText } from "../format/live-stop.js";
import { noteLines, processOutputLines } from "../format/notes.js";
import { OUTCOME_META, outcomeData } from "../format/outcome-data.js";
import { cutOutput } from "../format/output-parts.js";
import { reportText } from "../format/report.js";
import { transcriptSections } from "../format/sections.js";
import { deafRemedy, findHang } from "../image/hung-image.js";
import type { Evaluation, OutputStream, Transcript } from "../image/lisp-port.js";
import type { LispSession } from "../image/lisp-session.js";
import { Refusal } from "../refusals/refusal.js";
import type { ToolAnswer } from "../text/tool-answer.js";
import type { ToolContext } from "./tool-context.js";

/** What the next call does after a loss, by the kind of the image. */
const AFTER_LOSS = {
  own: "The next call that needs an image starts a new one.",
  attached: "The next call that needs the image connects again.",
};

/**
 * Waits for the next outcome of an evaluation, for evaluate-lisp and every tool that resumes an evaluation.
 *
 * @param seconds - Time until the evaluation is interrupted.
 * @throws Refusal `CANCELLED`; SwankError - an error of the client.
 */
export async function concludeEvaluation(
  evaluation: Evaluation,
  session: LispSession,
  context: ToolContext,
  seconds: number,
): Promise<Conclusion> {
  const { resets } = session;
  context.agent.evaluations.listen(evaluation, context.progress);
  const { cancelled, signal: interrupt } = context;
  const followed = await followEvaluation(evaluation, { seconds, signal: cancelled, interrupt });
  if (followed.kind === "cancelled")
    throw new Refusal("CANCELLED", "The call was cancelled; its evaluation was aborted.");
  const outcome = followed.kind === "running" ? undefined : followed.outcome;
  if (outcome !== undefined) session.follow(outcome.package);
  const loss = outcome?.status === "lost" ? await session.explainLoss() : undefined;
  // After a kick, the user decides whether the agent may come back.
  const isKick = outcome?.status === "lost" && outcome.cause.details["kicked"] === true;
  const found = followed.kind === "running" ? await findHang(session, context.cancelled) : undefined;
  const hang = found && `${found.message} ${context.guide.advise(found.remedy)}`;
  const way =
    followed.kind === "running" && session.client.isOpen ? context.guide.advise(deafRemedy(session)) : undefined;
  const next = loss === undefined || isKick ? undefined : AFTER_LOSS[session.origin.kind];
  const conclusion = conclude(followed, {
    loss,
    next,
    hang,
    way,
    reset: session.isRetired || session.resets !== resets,
  });
  context.agent.lastError.apply(conclusion.lastError);
  if (outcome?.status === "stopped") context.agent.stops.add(outcome.stop, evaluation);
  // Output that was written before the outcome may be read in the same turn of the event loop, but later.
  await setImmediate();
  return { ...conclusion, processOutput: context.agent.takeProcessOutput(session) };
}

/**
 * The answer that reports how an evaluation ended or stopped. Output that it cuts is kept.
 *
 * @param remarks - Further lines of the second block.
 * @param maxOutput - Most characters of each output stream. Default: as configured.
 */
export function concludedAnswer(
  whole: Conclusion,
  context: ToolContext,
  remarks: readonly string[] = [],
  maxOutput = context.config.maxOutput,
): ToolAnswer {
  const { config, guide } = context;
  const { maxValue } = config;
  const { ending, isError } = whole;
  const conclusion = { ...whole, transcript: withCutOutput(whole.transcript, maxOutput, context) };
  const live =
    ending.kind === "condition" && ending.stop !== undefined ? [liveStopText(ending.stop, ending.error, guide)] : [];
  const places =
    ending.kind === "condition" ? [...sourceLine(reportFrames(ending.error)), ...packageLine(ending.error)] : [];
  const aside = [...live, ...places, ...noteLines(conclusion), ...remarks].join("\n");
  return {
    blocks: [reportText(conclusion, maxValue, guide), ...(aside === "" ? [] : [aside])],
    isError,
    meta: { [OUTCOME_META]: outcomeData(conclusion, maxValue) },
  };
}

/** The same, unless the tool that began the evaluation presents it in another way. Output follows that. */
export async function presentedAnswer(
  evaluation: Evaluation,
  whole: Conclusion,
  context: ToolContext,
  remarks: readonly string[] = [],
): Promise<ToolAnswer> {
  const presenter = context.agent.evaluations.presenterOf(evaluation);
  if (presenter === undefined) return concludedAnswer(whole, context, remarks);
  const conclusion = presenter.tellsWarnings === true ? withoutWarnings(whole) : whole;
  const value = conclusion.ending.kind === "values" ? conclusion.ending.values[0] : undefined;
  if (value === undefined) {
    const answer = concludedAnswer(conclusion, context, remarks);
    const told = await presenter.unfinished?.(conclusion.ending);
    return { ...answer, blocks: [...(told?.blocks ?? []), ...answer.blocks], meta: { ...answer.meta, ...told?.meta } };
  }
  const sections = transcriptSections(withCutOutput(conclusion.transcript, context.config.maxOutput, context));
  const answer = await presenter.answer(value, conclusion.transcript);
  const printed = sections.length === 0 ? [] : [sections.join("\n\n")];
  const aside = [...processOutputLines(conclusion.processOutput), ...remarks];
  return { ...answer, blocks: [...answer.blocks, ...printed, ...(aside.length === 0 ? [] : [aside.join("\n")])] };
}

function withoutWarnings(conclusion: Conclusion): Conclusion {
  const transcript = { ...conclusion.transcript, warnings: [], warningsInFiles: [], warningsOmitted: 0 };
  return { ...conclusion, transcript };
}

function withCutOutput(transcript: Transcript, max: number, { agent, guide }: ToolContext): Transcript {
  const shown = (stream: OutputStream) => {
    const text = transcript[stream];
    return text.length <= max ? text : cutOutput(text, max, agent.outputs.keep({ stream, text }), guide);
  };
  if (transcript.stdout.length <= max && transcript.stderr.length <= max) return transcript;
  return { ...transcript, stdout: shown("stdout"), stderr: shown("stderr") };
}
