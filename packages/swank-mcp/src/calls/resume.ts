import { setTimeout } from "node:timers/promises";
import { conclude, EMPTY_TRANSCRIPT } from "../evaluation/conclusion.js";
import { nowStopped, placeName } from "../format/stop-places.js";
import { innermost } from "../image/innermost.js";
import type { DebuggedStop, LispClient, StopOwner, Stopped } from "../image/lisp-port.js";
import { cutName, cutText } from "../text/cut.js";
import { type ToolAnswer, textAnswer } from "../text/tool-answer.js";
import { concludedAnswer, concludeEvaluation, presentedAnswer } from "./answer-evaluation.js";
import type { AddressedStop } from "./stop-address.js";
import type { ToolContext } from "./tool-context.js";

/** Longest wait for the next stop of a thread that runs no evaluation, in milliseconds. It may never stop again. */
const FOREIGN_STOP_TIME = 500;
/** Interval between two requests for other clients' stops, in milliseconds. */
const LOOK_AGAIN = 50;

/**
 * Resumes a stopped thread, and reports the next outcome of its evaluation.
 *
 * @param leave - Makes the thread leave the stop.
 * @param seconds - Time until the evaluation is interrupted.
 * @throws Refusal - the stop is then unchanged or, with `CANCELLED`, its evaluation aborted; SwankError.
 */
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
  const remarks = isAborted ? [`Thread ${placeName(stop)} ended. ${nowStopped(others(found, context))}`] : [];
  return presentedAnswer(evaluation, conclusion, context, remarks);
}

/** The stops of this agent in other threads, the latest last. */
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
    return textAnswer(`; Thread ${placeName(found.stop)} ${became}`, nowStopped(others(found, context)));
  }
  const conclusion = conclude({ kind: "outcome", outcome: stoppedOutcome(next) });
  context.agent.lastError.apply(conclusion.lastError);
  return concludedAnswer(conclusion, context);
}

/** Resumes another client's thread. That client gets its values; this answer reports only whether the thread stopped again. */
async function answerElsewhere(
  client: LispClient,
  stop: DebuggedStop,
  { text }: StopOwner,
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
    await setTimeout(LOOK_AGAIN);
  }
}

/** The outcome of a thread that runs no evaluation, or whose evaluation another call reports. */
export function stoppedOutcome(stop: DebuggedStop): Stopped {
  return { ...EMPTY_TRANSCRIPT, status: "stopped", stop };
}
