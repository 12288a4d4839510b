import * as z from "zod";
import { inDebugger } from "../debugger-refusals.js";
import { breakpointData } from "../format/stop-data.js";
import type { LispSession } from "../lisp-session.js";
import { Refusal } from "../refusal.js";
import { readStopAddress } from "../stop-address.js";
import { defineTool } from "../tool.js";
import { jsonAnswer } from "../tool-answer.js";
import { threadText } from "./stop-inputs.js";

export const breakpointSet = defineTool({
  name: "breakpoint_set",
  title: "Set breakpoint",
  description: "Set breakpoint on function: evaluations stop at its calls, before it begins.",
  input: z.strictObject({
    function: z.string().min(1).describe("Function symbol (package:name), (setf name) or (method name (class))"),
    condition: z.string().optional().describe("Lisp condition; args is the argument list"),
    hit_count: z.int().min(1).optional().describe("Break after N hits"),
    thread: threadText.optional().describe("Thread ID, or any; default: your evaluations"),
  }),
  output: z.looseObject({ id: z.number().optional() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  async run({ function: name, condition, hit_count: hitCount, thread }, context) {
    const session = await context.session();
    const watched = await watchedThread(thread, session, context.signal);
    const options = { condition, hitCount, thread: watched, package: session.packageName };
    await context.approve({
      operation: ":set-breakpoint",
      wish: "set a breakpoint",
      particulars: [
        ["Function", name],
        ...(condition === undefined ? [] : [["Condition", condition] as const]),
        ...(hitCount === undefined ? [] : [["Hit count", String(hitCount)] as const]),
        ["Thread", watched === undefined ? "the agent's evaluations" : String(watched)],
      ],
      circumstances: [`Names are read in package ${options.package}`],
      isForeign: isForOthers(watched, session) && (await session.client.otherClients()) > 0,
      instead: "Leave thread out: the breakpoint then stops your own evaluations only.",
    });
    const { warning, ...breakpoint } = await inDebugger(() =>
      session.client.breakpoints.set(name, { ...options, signal: context.signal }),
    );
    return jsonAnswer({ ...breakpointData(breakpoint), warning });
  },
});

/** @returns `undefined` for this session's evaluations. */
async function watchedThread(
  text: string | undefined,
  { client }: LispSession,
  signal: AbortSignal,
): Promise<number | "any" | undefined> {
  if (text === undefined) return undefined;
  if (text === "any") return "any";
  const address = readStopAddress(text);
  if (address.kind === "latest") return undefined;
  if (await client.hasThread(address.thread, { signal })) return address.thread;
  throw new Refusal("NO_SUCH_THREAD", `There is no thread ${address.thread}.`, {
    remedy: "Leave thread out for your own evaluations, or give any for all threads.",
  });
}

/** Whether threads that run no evaluation of this session can stop. */
function isForOthers(watched: number | "any" | undefined, { client }: LispSession): boolean {
  if (watched === undefined || watched === "any") return watched === "any";
  return !client.stops.some(({ thread, evaluation }) => thread === watched && evaluation !== undefined);
}
