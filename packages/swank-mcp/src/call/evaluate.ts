import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { followEvaluation, type types } from "swank-client";
import { type ToolAnswer, type ToolGuide, textAnswer } from "../base/answer.js";
import { Refusal } from "../base/refusals.js";
import { OUTCOME_META, outcomeData } from "../report/data.js";
import { objectAnswer } from "../report/object.js";
import { apartSections, cutOutput, noteLines, reportText, transcriptSections } from "../report/report.js";
import { liveStopText, nowStopped, packageLine, placeName, reportFrames, sourceLine } from "../report/stop.js";
import type { Presenter } from "../session/agent.js";
import type { ApartOutput } from "../session/apart-output.js";
import type { ApprovalRequest } from "../session/approval-prompt.js";
import {
  type Answerable,
  type Conclusion,
  type ConditionEnding,
  conclude,
  EMPTY_TRANSCRIPT,
  REACTION_TIME,
} from "../session/conclusion.js";
import { deafRemedy, findHang } from "../session/hung-image.js";
import type { LispSession } from "../session/image.js";
import type { DebuggedStop, Evaluation, LispClient, Stopped } from "../session/lisp-port.js";
import { innermost, ownership } from "../session/stops.js";
import { cutName, cutText, holdsForm } from "../text/cut.js";
import { type AddressedStop, callOf, checkFrame, checkKept } from "./stop-tool.js";
import type { ToolContext } from "./tool.js";

const AFTER_LOSS = {
  own: "The next call that needs an image starts a new one.",
  attached: "The next call that needs the image connects again.",
};

/** Waits for the next outcome of an evaluation, for evaluate-lisp and every tool that resumes one. @throws Refusal `CANCELLED`; SwankError */
export async function concludeEvaluation(
  evaluation: Evaluation,
  session: LispSession,
  context: ToolContext,
  seconds: number,
): Promise<Conclusion> {
  const { resets } = session;
  context.agent.evaluations.listen(evaluation, context.progress);
  const { cancelled, signal: interrupt } = context;
  const limits = { timeout: seconds * 1000, signal: cancelled, interrupt, patience: REACTION_TIME };
  const followed = await followEvaluation(evaluation, limits);
  if (followed.kind === "cancelled")
    throw new Refusal("CANCELLED", "The call was cancelled; its evaluation was aborted.");
  const conclusion = await concludeFollowed(followed, session, { resets, signal: cancelled, guide: context.guide });
  const outcome = followed.kind === "running" ? undefined : followed.outcome;
  if (outcome !== undefined) context.agent.background.of(evaluation)?.record(outcome, conclusion, true);
  context.agent.lastError.apply(conclusion.lastError);
  if (outcome?.status === "stopped") context.agent.stops.add(outcome.stop, evaluation);
  // Output that was written before the outcome may be read in the same turn of the event loop, but later.
  await nextTurn();
  return { ...conclusion, apart: context.agent.takeApart(session) };
}

interface Following {
  /** Number of the session's resets when the wait began. */
  readonly resets: number;
  /** Ends the search for the reason why an evaluation reacts to nothing. */
  readonly signal: AbortSignal;
  readonly guide: ToolGuide;
}

/** The conclusion of a wait for an evaluation, with what the image says about a loss or a hang. The session follows the evaluation's package. */
export async function concludeFollowed(
  followed: Answerable,
  session: LispSession,
  { resets, signal, guide }: Following,
): Promise<Conclusion> {
  const outcome = followed.kind === "running" ? undefined : followed.outcome;
  if (outcome !== undefined) session.follow(outcome.package);
  const loss = outcome?.status === "lost" ? await session.explainLoss() : undefined;
  // After a kick, the user decides whether the agent may come back.
  const isKick = outcome?.status === "lost" && outcome.cause.details.kicked !== undefined;
  const found = followed.kind === "running" ? await findHang(session, signal) : undefined;
  const hang = found && `${found.message} ${guide.advise(found.remedy)}`;
  const way = followed.kind === "running" && session.client.isOpen ? guide.advise(deafRemedy(session)) : undefined;
  const next = loss === undefined || isKick ? undefined : AFTER_LOSS[session.origin.kind];
  const reset = session.isRetired || session.resets !== resets;
  return conclude(followed, { loss, next, hang, way, reset });
}

/** The answer that reports how an evaluation ended or stopped. Output that it cuts is kept. @param most - Default: as configured for output and values. */
export function concludedAnswer(
  whole: Conclusion,
  context: ToolContext,
  remarks: readonly string[] = [],
  most?: number,
): ToolAnswer {
  const { config, guide } = context;
  const { maxOutput, maxValue } = most === undefined ? config : { maxOutput: most, maxValue: most };
  const { ending, isError } = whole;
  const conclusion = { ...whole, transcript: withCutOutput(whole.transcript, maxOutput, context) };
  const about = ending.kind === "condition" ? conditionLines(ending, guide) : [];
  const aside = [...about, ...noteLines(conclusion, guide), ...remarks].join("\n");
  return {
    blocks: [
      reportText(conclusion, maxValue, guide),
      ...(aside === "" ? [] : [aside]),
      ...apartBlocks(whole.apart, most, context),
    ],
    isError,
    meta: { [OUTCOME_META]: outcomeData(conclusion) },
  };
}

function conditionLines({ stop, error, held }: ConditionEnding, guide: ToolGuide): string[] {
  return [
    ...(stop === undefined ? [] : [liveStopText(stop, error, guide)]),
    ...(held === undefined
      ? []
      : [`No stop was kept, and the stack is unwound: the thread held ${held}, which others need.`]),
    ...meantLines(error),
    ...sourceLine(reportFrames(error)),
    ...packageLine(error),
  ];
}

/** The report of a conclusion for the ledger: without advice, and nothing of it is kept or told. */
export function concludedReport(conclusion: Conclusion, { config, guide }: ToolContext): ToolAnswer {
  const { maxValue } = config;
  return {
    blocks: [reportText(conclusion, maxValue, guide)],
    isError: conclusion.isError,
    meta: { [OUTCOME_META]: outcomeData(conclusion) },
  };
}

/** What was written apart from the evaluation, as a block; none if nothing was. Output that it cuts is kept. */
export function apartBlocks(
  apart: readonly ApartOutput[] = [],
  most: number | undefined,
  { agent, guide }: ToolContext,
): string[] {
  const keep = (stream: string, text: string) => agent.outputs.keep({ stream, text });
  const sections = apartSections(apart, most, keep, guide);
  return sections.length === 0 ? [] : [sections.join("\n\n")];
}

const NO_QUICKLISP = /^Package (?:QL|QUICKLISP)(?:-\w+)? does not exist/m;

/** What the code may mean that an error says is missing. */
function meantLines({ type, message, near = [] }: types.ErrorSnapshot): string[] {
  if (near.length > 0) return [`It may mean: ${near.map((name) => cutName(name)).join(", ")}`];
  if (NO_QUICKLISP.test(message))
    return ['Quicklisp is not loaded. If it is installed, (load "~/quicklisp/setup.lisp") loads it.'];
  return type === "END-OF-FILE" && message === STDIN_ENDED ? ['Input for the code is passed as "stdin".'] : [];
}

/** The message of lisp/debug/conditions.lisp about the input of an evaluation. */
const STDIN_ENDED = "End of file on standard input.";

/** The same, unless the tool that began the evaluation presents it in another way. Output follows that. */
export async function presentedAnswer(
  evaluation: Evaluation,
  whole: Conclusion,
  context: ToolContext,
  remarks: readonly string[] = [],
): Promise<ToolAnswer> {
  const presenter = context.agent.evaluations.find(evaluation)?.presenter;
  if (presenter === undefined) return concludedAnswer(whole, context, remarks);
  const conclusion = presenter.tellsWarnings === true ? withoutWarnings(whole) : whole;
  const value = conclusion.ending.kind === "values" ? conclusion.ending.values[0] : undefined;
  if (value === undefined) {
    const answer = concludedAnswer(conclusion, context, remarks);
    const told = await presenter.unfinished?.(conclusion.ending);
    const found = told?.blocks ?? [];
    const blocks = presenter.reportFirst === true ? [...answer.blocks, ...found] : [...found, ...answer.blocks];
    return { ...answer, blocks, meta: { ...answer.meta, ...told?.meta } };
  }
  const sections = transcriptSections(withCutOutput(conclusion.transcript, context.config.maxOutput, context));
  const answer = await presenter.answer(value, conclusion.transcript);
  const printed = sections.length === 0 ? [] : [sections.join("\n\n")];
  const aside = remarks.length === 0 ? [] : [remarks.join("\n")];
  const apart = apartBlocks(conclusion.apart, undefined, context);
  return { ...answer, blocks: [...answer.blocks, ...printed, ...aside, ...apart] };
}

interface Run extends Pick<types.EvaluateOptions, "valuesAs" | "onError" | "policy"> {
  readonly session: LispSession;
  readonly code: string;
}

/** Evaluates code, and answers as `presenter` says. @param seconds - Default: as configured. */
export async function answerPresented(
  { session, code, ...options }: Run,
  presenter: Presenter,
  context: ToolContext,
  seconds = context.config.timeout,
): Promise<ToolAnswer> {
  const { evaluations } = context.agent;
  const evaluation = evaluations.begin(session.client, code, options);
  evaluations.present(evaluation, presenter);
  return presentedAnswer(evaluation, await concludeEvaluation(evaluation, session, context, seconds), context);
}

function withoutWarnings(conclusion: Conclusion): Conclusion {
  const transcript = { ...conclusion.transcript, warnings: [], warningsInFiles: [], warningsOmitted: 0 };
  return { ...conclusion, transcript };
}

function withCutOutput(transcript: types.Transcript, max: number, { agent, guide }: ToolContext): types.Transcript {
  const shown = (stream: types.OutputStream) => {
    const text = transcript[stream];
    return text.length <= max ? text : cutOutput(text, max, agent.outputs.keep({ stream, text }), guide);
  };
  if (transcript.stdout.length <= max && transcript.stderr.length <= max) return transcript;
  return { ...transcript, stdout: shown("stdout"), stderr: shown("stderr") };
}

/** Longest wait for the next stop of a thread that runs no evaluation, in milliseconds. It may never stop again. */
const FOREIGN_STOP_TIME = 500;

const LOOK_AGAIN = 50;

/** Resumes a stopped thread, and reports the next outcome of its evaluation. @throws Refusal - the stop is unchanged or, with `CANCELLED`, aborted */
export async function answerResumed(
  found: AddressedStop,
  leave: () => Promise<void>,
  context: ToolContext,
  seconds: number,
): Promise<ToolAnswer> {
  const { session, stop } = found;
  const { evaluation, owner } = stop;
  if (owner !== undefined) return answerElsewhere(session.client, stop, owner, leave);
  if (evaluation === undefined) return answerForeign(found, leave, context);
  context.agent.evaluations.listen(evaluation, context.progress);
  await leave();
  const conclusion = await concludeEvaluation(evaluation, session, context, seconds);
  const { ending } = conclusion;
  const isAborted = ending.kind === "aborted" && ending.byReset !== true;
  const next = ending.kind === "condition" ? ending.stop : undefined;
  const remarks = [
    ...(isAborted ? [`Thread ${placeName(stop)} ended. ${nowStopped(others(found, context))}`] : []),
    ...(next === undefined ? [] : stoppedAgain(stop, next)),
  ];
  return presentedAnswer(evaluation, conclusion, context, remarks);
}

/** That the thread has left `stop` and come to `next`, unless it was a step that led there. */
function stoppedAgain(stop: DebuggedStop, next: Pick<DebuggedStop, "reason">): string[] {
  if (stop.isLive || stop.reason === "step" || next.reason === "step") return [];
  return [`It worked: the thread left the stop ${placeName(stop)}, went on, and has stopped again here.`];
}

function others({ session, stop }: AddressedStop, { agent }: ToolContext): readonly DebuggedStop[] {
  return innermost(agent.stopsIn(session)).filter(({ thread }) => thread !== stop.thread);
}

/** Resumes a thread that runs no evaluation. Only its next stop can be reported. */
async function answerForeign(
  found: AddressedStop,
  leave: () => Promise<void>,
  context: ToolContext,
): Promise<ToolAnswer> {
  const { thread } = found.stop;
  const next = await context.agent.stops.after(thread, leave, FOREIGN_STOP_TIME);
  if (next === undefined) {
    // A restart can end the image, too.
    const exists = await found.session.client.hasThread(thread).catch(() => false);
    const became = exists ? "resumed" : "ended";
    const apart = apartBlocks(context.agent.takeApart(found.session), undefined, context);
    return textAnswer(`; Thread ${placeName(found.stop)} ${became}`, nowStopped(others(found, context)), ...apart);
  }
  const stopped = conclude({ kind: "outcome", outcome: stoppedOutcome(next) });
  const conclusion = { ...stopped, apart: context.agent.takeApart(found.session) };
  context.agent.lastError.apply(conclusion.lastError);
  return concludedAnswer(conclusion, context, stoppedAgain(found.stop, next));
}

/** Resumes another client's thread. That client gets its values; this answer reports only whether the thread stopped again. */
async function answerElsewhere(
  client: LispClient,
  stop: DebuggedStop,
  { text }: types.StopOwner,
  leave: () => Promise<void>,
): Promise<ToolAnswer> {
  await leave();
  const next = await nextStopElsewhere(client, stop);
  if (next === undefined) return textAnswer(`; Thread ${placeName(stop)} resumed in ${text}`);
  const { type, message } = next.condition;
  return textAnswer(`; Thread ${placeName(next)} stopped again in ${text}: ${cutName(type)}: ${cutText(message)}`);
}

/** The thread may not have left its stop yet. */
async function nextStopElsewhere(client: LispClient, left: DebuggedStop): Promise<DebuggedStop | undefined> {
  const end = Date.now() + FOREIGN_STOP_TIME;
  for (;;) {
    const next = (await client.foreignStops()).find(
      ({ thread, data }) => thread === left.thread && data.number !== left.data.number,
    );
    if (next !== undefined || Date.now() > end) return next;
    await pause(LOOK_AGAIN);
  }
}

/** The outcome of a thread that runs no evaluation, or whose evaluation another call reports. */
export function stoppedOutcome(stop: DebuggedStop): Stopped {
  return { ...EMPTY_TRANSCRIPT, status: "stopped", stop };
}

interface AddressedFrame extends AddressedStop {
  readonly frame: number;
}

export async function inspectionRequest(
  code: string,
  { frame, stop, session }: AddressedFrame,
): Promise<ApprovalRequest> {
  checkCode(code);
  checkFrame(frame, stop);
  return {
    operation: ":eval",
    action: `evaluate code in frame #${frame}`,
    particulars: [["Code", code]],
    circumstances: [`Frame ${frame}: ${await callOf(frame, stop)}`, `Thread ${stop.thread}/${stop.level}`],
    stop,
    ...ownership(stop, session),
  };
}

/** Evaluates code, in a frame or as evaluate-lisp does, and inspects its first value. */
export async function inspectValueOf(
  code: string,
  found: AddressedFrame | undefined,
  options: types.InspectObjectOptions,
  context: ToolContext,
): Promise<ToolAnswer> {
  checkCode(code);
  return found === undefined ? inspectEvaluated(code, options, context) : inspectInFrame(code, found, options, context);
}

async function inspectInFrame(
  code: string,
  found: AddressedFrame,
  options: types.InspectObjectOptions,
  context: ToolContext,
): Promise<ToolAnswer> {
  checkKept(found, context);
  const { timeout } = context.config;
  const { stop, session, frame } = found;
  const { values } = await stop.evaluateInFrame(frame, code, {
    timeout: timeout * 1000,
    signal: context.signal,
    valuesAs: "ids",
  });
  const view = await session.client.program.inspectObject(idIn(values[0]), options);
  return objectAnswer(view, options.start);
}

async function inspectEvaluated(
  code: string,
  options: types.InspectObjectOptions,
  context: ToolContext,
): Promise<ToolAnswer> {
  return answerAboutValue(code, context, async (id, { client }) => {
    const view = await client.program.inspectObject(id, { ...options, expression: shortName(code) });
    return objectAnswer(view, options.start);
  });
}

/** Evaluates code as evaluate-lisp does, and answers with what `answer` says about the id of its first value. */
export async function answerAboutValue(
  code: string,
  context: ToolContext,
  answer: (id: number, session: LispSession) => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  checkCode(code);
  const session = await context.session();
  const { onError, policy } = context.config;
  const presenter: Presenter = { answer: (value) => answer(idIn(value), session) };
  return answerPresented({ session, code, valuesAs: "ids", onError, policy }, presenter, context);
}

/** An id, or code, as tools take an object. */
export function idOrCode(object: number | string): number | string {
  if (typeof object === "number") return object;
  return /^\s*#?\d{1,15}\s*$/.test(object) ? Number(object.replace("#", "")) : object;
}

function checkCode(code: string): void {
  if (!holdsForm(code)) throw new Refusal("EMPTY_CODE", "The code contains no form, so nothing was evaluated.");
}

function idIn(value: string | undefined): number {
  if (value !== undefined) return Number(value);
  throw new Refusal("INVALID_ARGUMENTS", "The code returned no value.", {
    remedy: "Give code that returns the object.",
  });
}

/** The code as an expression for the object, if it is a variable: any other code may return another object each time. */
function shortName(code: string): string | undefined {
  const name = code.trim();
  return /^[^\s()'"`,;#|\\]{1,60}$/.test(name) && !/^[-+.\d]/.test(name) ? name : undefined;
}
