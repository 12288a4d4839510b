import { setTimeout } from "node:timers/promises";
import { answerEvaluation, concludedAnswer } from "./answer-evaluation.js";
import { conclude } from "./conclusion.js";
import { inDebugger } from "./debugger-refusals.js";
import { cutName, cutText } from "./format/cut.js";
import type { DebuggedStop, ForeignStop, LispClient, StopOwner, Stopped } from "./lisp-port.js";
import type { AddressedStop } from "./stop-address.js";
import type { ToolContext } from "./tool.js";
import { type ToolAnswer, textAnswer } from "./tool-answer.js";

/** How long a thread that is no evaluation has to stop again, in milliseconds: whether it ever will, nobody knows. */
const FOREIGN_STOP_TIME = 500;
/** Between two looks at what is stopped elsewhere, in milliseconds. */
const LOOK_AGAIN = 50;

/**
 * Lets a stopped thread go on, and reports what becomes of its evaluation: the one that was begun by the call that ran into the stop.
 *
 * @param leave - Makes the thread leave the stop.
 * @param seconds - Time until the evaluation is interrupted.
 * @throws Refusal - the stop is then as it was, or, with `CANCELLED`, its evaluation aborted; SwankError.
 */
export async function answerResumed(
  { session, stop }: AddressedStop,
  leave: () => Promise<void>,
  context: ToolContext,
  seconds: number,
): Promise<ToolAnswer> {
  const { evaluation, owner } = stop;
  if (owner !== undefined) return answerElsewhere(session.client, stop.thread, owner, leave);
  if (evaluation === undefined) return answerForeign(stop.thread, leave, context);
  context.outputs.listen(evaluation, (chunk) => context.progress(chunk.text, chunk.stream));
  await inDebugger(leave);
  return answerEvaluation(evaluation, session, context, seconds);
}

/** Of a thread that is no evaluation only its next stop can be told. */
async function answerForeign(thread: number, leave: () => Promise<void>, context: ToolContext): Promise<ToolAnswer> {
  const next = await context.stops.after(thread, () => inDebugger(leave), FOREIGN_STOP_TIME);
  if (next === undefined) return textAnswer(`; Thread ${thread} goes on`);
  const conclusion = conclude({ kind: "outcome", outcome: stoppedOutcome(next) });
  context.lastError.apply(conclusion.lastError);
  return concludedAnswer(conclusion, context.config.maxValue);
}

/** What another client's thread gives, that client is told. Here it is only told where the thread is now. */
async function answerElsewhere(
  client: LispClient,
  thread: number,
  { text }: StopOwner,
  leave: () => Promise<void>,
): Promise<ToolAnswer> {
  await inDebugger(leave);
  const next = await nextStopElsewhere(client, thread);
  if (next === undefined) return textAnswer(`; Thread ${thread} goes on in ${text}`);
  const { type, message } = next.condition;
  return textAnswer(
    `; Thread ${thread} has stopped again in ${text}: ${cutName(type)}: ${cutText(message)} (${thread}/${next.level})`,
  );
}

async function nextStopElsewhere(client: LispClient, thread: number): Promise<ForeignStop | undefined> {
  const end = Date.now() + FOREIGN_STOP_TIME;
  for (;;) {
    const next = (await client.foreignStops()).find((stop) => stop.thread === thread);
    if (next !== undefined || Date.now() > end) return next;
    await setTimeout(LOOK_AGAIN);
  }
}

function stoppedOutcome(stop: DebuggedStop): Stopped {
  const { reason, detail, condition, locals } = stop;
  const nothing = { stdout: "", stderr: "", warnings: [], warningsOmitted: 0, package: "" };
  return { ...nothing, status: "stopped", reason, detail, error: condition, locals, session: stop };
}
