import type { types } from "swank-client";
import * as z from "zod";
import { type ToolAnswer, textAnswer } from "../base/answer.js";
import { Refusal } from "../base/refusals.js";
import { concludedAnswer, stoppedOutcome } from "../call/evaluate.js";
import { readStopAddress } from "../call/stop-tool.js";
import { defineTool, type ToolContext, threadText } from "../call/tool.js";
import { waitText } from "../report/threads.js";
import type { ApprovalRequest } from "../session/approval-prompt.js";
import { conclude } from "../session/conclusion.js";
import type { LispSession } from "../session/image.js";
import type { DebuggedStop } from "../session/lisp-port.js";
import { cutName } from "../text/cut.js";
import { whoseText } from "./list-threads.js";

const STOP_TIME = 2500;

type Ending = "abort" | "kill";

export const interruptThread = defineTool({
  name: "interrupt-thread",
  family: "runtime",
  needs: "runtime",
  effect: "interrupts",
  title: "Interrupt thread",
  description:
    "Act on a running thread of list-threads. stop: it stops in the debugger, to be inspected and continued. abort: unwind it to where its request or code began. kill: end it. Threads that are not yours need the user's yes.",
  input: () =>
    z.strictObject({
      thread: threadText.describe("Thread id"),
      mode: z.enum(["stop", "abort", "kill"]),
    }),
  async plan({ thread, mode }, context) {
    const session = await context.session();
    const found = await findThread(thread, session, context);
    const request = requestFor(found, mode, session, context);
    const act = () => (mode === "stop" ? stop(found, session, context) : end(found, mode, session));
    return { request, act };
  },
});

async function findThread(
  text: string,
  { client }: LispSession,
  { signal }: ToolContext,
): Promise<types.ProgramThread> {
  const address = readStopAddress(text);
  if (address.kind === "latest")
    throw new Refusal("INVALID_ARGUMENTS", '"thread" must be a thread id.', { remedy: "list-threads shows the ids." });
  const { threads } = await client.program.threads({ id: address.thread, signal });
  const [found] = threads;
  if (found !== undefined) return found;
  throw new Refusal("NO_SUCH_THREAD", `There is no thread ${address.thread}.`, {
    remedy: "list-threads shows the ids.",
  });
}

/** The request to the user; `undefined` for a thread that runs the agent's own code. */
function requestFor(
  thread: types.ProgramThread,
  mode: "stop" | Ending,
  { client, origin }: LispSession,
  { agent }: ToolContext,
): ApprovalRequest | undefined {
  const mine = client.evaluations.filter((evaluation) => agent.evaluations.has(evaluation)).map(({ id }) => id);
  const { id, name, whose, owner, evaluation = Number.NaN } = thread;
  if (whose === "code" || mine.includes(evaluation)) return undefined;
  if (whose === "evaluation") throw untouchable(id, "runs an evaluation of another agent of this server");
  if (whose === "service") throw untouchable(id, "serves clients or belongs to Lisp");
  return {
    operation: ":modify-running-code",
    action: `${mode} thread ${id}`,
    particulars: [
      ["Thread", cutName(name)],
      ["Runs code of", whoseText(thread, { mine })],
      ["State", waitText(thread)],
    ],
    isForeign: whose !== "program" || origin.kind === "attached",
    owner: owner?.text,
    thread: id,
  };
}

function untouchable(id: number, why: string): Refusal {
  return new Refusal("INVALID_ARGUMENTS", `Thread ${id} ${why}.`, { remedy: "Nothing was done. Leave it alone." });
}

async function stop({ id }: types.ProgramThread, { client }: LispSession, context: ToolContext): Promise<ToolAnswer> {
  const stopped = await context.agent.stops.after(id, () => client.program.stopThread(id), STOP_TIME);
  if (stopped !== undefined) return stoppedAnswer(stopped, context);
  const elsewhere = (await client.foreignStops()).find(({ thread }) => thread === id);
  if (elsewhere === undefined) return notYet(id, "stopped");
  context.agent.stops.saw(id);
  const place = `${id}/${elsewhere.level}`;
  return textAnswer(
    `; Thread ${place} stopped in ${elsewhere.owner?.text ?? "another client"}`,
    context.guide.advise(`To look at it, call debugger_frames with thread "${place}".`),
  );
}

/** A stop that was asked for is no error. */
function stoppedAnswer(stopped: DebuggedStop, context: ToolContext): ToolAnswer {
  const conclusion = conclude({ kind: "interrupted", outcome: stoppedOutcome(stopped) });
  context.agent.background.of(stopped.evaluation)?.mention(stopped);
  return concludedAnswer({ ...conclusion, isError: false, lastError: { kind: "keep" } }, context);
}

async function end({ id, name }: types.ProgramThread, how: Ending, { client }: LispSession): Promise<ToolAnswer> {
  const fate = await client.program.endThread(id, how);
  if (fate === "silent") return notYet(id, "ended");
  const became = fate === "ended" ? "ended" : "was unwound, and still runs";
  return textAnswer(`; Thread ${id}${name === "" ? "" : ` (${cutName(name)})`} ${became}`);
}

function notYet(id: number, what: string): ToolAnswer {
  const text = `; Thread ${id} has not ${what} yet: it allows no interrupts, is in foreign code, or holds a lock that Lisp needs.`;
  return { ...textAnswer(text), isError: true };
}
