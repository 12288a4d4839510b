import { setTimeout as pause } from "node:timers/promises";
import { followEvaluation, type types } from "swank-client";
import type { JsonObject, ToolAnswer } from "../base/answer.js";
import { settledWithin } from "../base/lifetime.js";
import { Refusal } from "../base/refusals.js";
import { waitText } from "../report/threads.js";
import type { BackgroundEvaluation } from "../session/background.js";
import { REACTION_TIME } from "../session/conclusion.js";
import type { LispSession } from "../session/image.js";
import type { Evaluation } from "../session/lisp-port.js";
import { concludedAnswer, concludedReport, concludeFollowed } from "./evaluate.js";
import type { ToolContext } from "./tool.js";

const BACKGROUND_META = "swank-mcp/background";

/** Milliseconds for which the first answer waits: what cannot begin, and what ends at once, is then reported without a look. */
const SOON = 250;

/** Milliseconds after which an evaluation is watched again whose outcome could not be told, and how often that may be after its end. */
const WATCH_PAUSE = 1000;

const MOST_FAILURES = 3;

const ANSWER_TIME = 2000;

interface Options {
  /** Seconds until it is interrupted. Default: no limit. */
  readonly timeout: number | undefined;
  /** Most characters of each output stream and value in the answer. Default: as configured. */
  readonly most: number | undefined;
}

/**
 * Goes on without waiting for the end of an evaluation, and answers with the id under which it is looked at.
 *
 * @throws the reason why it could not begin, if that is known soon; Refusal `CANCELLED`
 */
export async function answerBegun(
  evaluation: Evaluation,
  code: string,
  session: LispSession,
  context: ToolContext,
  { timeout, most }: Options,
): Promise<ToolAnswer> {
  const { background } = context.agent;
  const entry = background.add(evaluation, session, code);
  // No call waits for it. The tool that resumes it after a stop has its output from then on.
  context.agent.evaluations.listen(evaluation, (text, stream) => {
    if (stream !== undefined) context.recordOutput(text, stream);
  });
  void watch(entry, timeout, context);
  try {
    await settledWithin(SOON, entry.reported);
    checkWanted(entry, context);
    const answer = await answerAbout(entry, context, most);
    checkWanted(entry, context);
    return answer;
  } catch (error) {
    // What never began is not listed, and what was cancelled has an id that nobody learned.
    background.remove(entry);
    throw error;
  }
}

/** @throws Refusal `CANCELLED`, and ends the evaluation, if the call that began it is cancelled */
function checkWanted(entry: BackgroundEvaluation, { cancelled }: ToolContext): void {
  if (!cancelled.aborted) return;
  entry.end();
  throw new Refusal("CANCELLED", "The call was cancelled; its evaluation was aborted.");
}

/** @throws Refusal `NO_SUCH_EVALUATION`; the reason why the evaluation could not begin */
export async function answerLook(id: number, context: ToolContext, most: number | undefined): Promise<ToolAnswer> {
  const entry = context.agent.background.find(id);
  if (entry === undefined) throw new Refusal("NO_SUCH_EVALUATION", `There is no background evaluation ${id}.`);
  // The answer is then about the image, and has its news. The report of an end needs no image, and must not launch one.
  if (!entry.hasEnded && entry.session.client.isOpen) await context.session({ evenIfHung: true });
  return answerAbout(entry, context, most);
}

/** Notes each stop of the evaluation, and its end. Never rejects. */
async function watch(entry: BackgroundEvaluation, timeout: number | undefined, context: ToolContext): Promise<void> {
  const { guide, agent } = context;
  const { evaluation, session, signal } = entry;
  const { resets } = session;
  const patience = REACTION_TIME;
  let failures = 0;
  // An evaluation that goes on after a stop has the time of the call that resumes it.
  for (let time = timeout === undefined ? undefined : timeout * 1000; !entry.hasEnded; time = undefined) {
    try {
      const followed = await followEvaluation(evaluation, { timeout: time, signal, patience });
      if (followed.kind === "cancelled") return;
      const conclusion = await concludeFollowed(followed, session, { resets, signal, guide });
      entry.record(followed.kind === "running" ? undefined : followed.outcome, conclusion);
      if (entry.hasEnded) context.recordEnd(entry.id, concludedReport(conclusion, context), entry.age);
    } catch (error) {
      failures += 1;
      if (!evaluation.isSent || (evaluation.isSettled && failures > MOST_FAILURES)) entry.fail(error);
      // The image may be busy. The code runs, so its end is still to come.
      else await pause(WATCH_PAUSE, undefined, { ref: false });
    }
  }
  agent.background.limit();
}

/** Reports the state of an evaluation, or how it ended, with the output that no answer has told. */
async function answerAbout(
  entry: BackgroundEvaluation,
  context: ToolContext,
  most: number | undefined,
): Promise<ToolAnswer> {
  const { agent, guide } = context;
  const begun = entry.evaluation.userWait;
  const [thread] = entry.state === "running" ? await Promise.all([threadOf(entry), newOutput(entry)]) : [];
  entry.thread = thread?.id ?? entry.thread;
  // The time for which it waits for the user grows only while it does.
  const state = entry.evaluation.userWait > begun ? "waiting for the user's answer" : thread && waitText(thread);
  const conclusion = entry.take(underwayText(entry, state));
  agent.lastError.apply(conclusion.lastError);
  const whole = { ...conclusion, apart: agent.takeApart(entry.session) };
  const remarks = guide.advise(adviceFor(entry));
  const answer = concludedAnswer(whole, context, remarks === "" ? [] : [remarks], most);
  return { ...answer, meta: { ...answer.meta, [BACKGROUND_META]: backgroundData(entry, state) } };
}

/** The thread of a running evaluation; `undefined` if it has not begun, or the image does not answer soon. */
async function threadOf({
  evaluation,
  session,
  thread,
}: BackgroundEvaluation): Promise<types.ProgramThread | undefined> {
  const known = thread ?? evaluation.thread;
  const asked = session.client.program.threads(known === undefined ? {} : { id: known });
  const found = await settledWithin(ANSWER_TIME, asked).catch(() => undefined);
  return found?.value.threads.find((each) => each.evaluation === evaluation.id);
}

/** Waits for the output that the image keeps because there is much of it, unless the image does not answer soon. */
async function newOutput({ evaluation, session }: BackgroundEvaluation): Promise<void> {
  await settledWithin(ANSWER_TIME, session.client.renewOutput(evaluation)).catch(() => undefined);
}

function underwayText({ id, age, thread }: BackgroundEvaluation, state = "running"): string {
  const place = thread === undefined ? "" : ` in thread ${thread}`;
  return `Background evaluation ${id} has not ended. It has run for ${secondsText(age)}${place}: ${state}`;
}

function secondsText(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`;
}

function adviceFor({ id, thread, state, age }: BackgroundEvaluation): string {
  if (state === "stopped")
    return `This is background evaluation ${id}. When it has ended, evaluate-lisp with id ${id} shows its result.`;
  if (state !== "running") return `This was background evaluation ${id}, which ran for ${secondsText(age)}.`;
  const look = `evaluate-lisp with id ${id} shows its new output, its state and its result.`;
  const end =
    thread === undefined
      ? "interrupt-thread ends it: list-threads shows its thread."
      : `interrupt-thread with thread ${thread} and mode abort ends it.`;
  return `${look} ${end}`;
}

function backgroundData({ id, state, age, thread }: BackgroundEvaluation, doing: string | undefined): JsonObject {
  return {
    id,
    state,
    seconds: Math.round(age / 100) / 10,
    ...(thread === undefined ? {} : { thread }),
    ...(state === "running" && doing !== undefined ? { doing } : {}),
  };
}
