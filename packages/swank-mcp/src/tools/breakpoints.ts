import * as z from "zod";
import { jsonAnswer } from "../base/answer.js";
import { Refusal } from "../base/refusals.js";
import { readStopAddress } from "../call/stop-tool.js";
import { defineTool, threadText } from "../call/tool.js";
import { breakpointData, breakpointListData } from "../report/data.js";
import type { ApprovalRequest } from "../session/approval-prompt.js";
import type { LispSession } from "../session/image.js";
import type { DebuggedStop } from "../session/lisp-port.js";

export const breakpointSet = defineTool({
  name: "breakpoint_set",
  family: "breakpoints",
  needs: "runtime",
  effect: "sets-breakpoint",
  title: "Set breakpoint",
  description: "Set breakpoint on function: evaluations stop at each call, before the function runs.",
  input: () =>
    z.strictObject({
      function: z.string().min(1).describe("Function symbol (package:name), (setf name) or (method name (class))"),
      condition: z.string().optional().describe("Lisp condition with the parameters' names; args: argument list"),
      log: z.string().optional().describe("Expression to print, with the caller, instead of stopping"),
      hit_count: z.int().min(1).optional().describe("Break after N hits"),
      thread: threadText.optional().describe("Thread ID, or any; default: your evaluations"),
    }),
  output: () => z.looseObject({ id: z.number().optional() }),
  async plan({ function: name, condition, log, hit_count: hitCount, thread }, context) {
    const session = await context.session();
    const watched = await watchedThread(thread, session, context.signal);
    const options = { condition, log, hitCount, thread: watched, package: session.packageName };
    await session.client.breakpoints.check(name, { package: options.package, signal: context.signal });
    const request: ApprovalRequest = {
      operation: ":set-breakpoint",
      action: "set a breakpoint",
      particulars: [
        ["Function", name],
        ...(condition === undefined ? [] : [["Condition", condition] as const]),
        ...(log === undefined ? [] : [["Log", log] as const]),
        ...(hitCount === undefined ? [] : [["Hit count", String(hitCount)] as const]),
        ["Thread", watched === undefined ? "the agent's evaluations" : String(watched)],
      ],
      circumstances: [`Names are read in package ${options.package}`],
      isForeign: isForOthers(watched, context.agent.stopsIn(session)) && (await session.client.otherClients()) > 0,
      instead: "Leave thread out: the breakpoint then stops only your own evaluations.",
    };
    const act = async () => {
      const { warning, ...breakpoint } = await session.client.breakpoints.set(name, {
        ...options,
        signal: context.signal,
      });
      return jsonAnswer({ ...breakpointData(breakpoint), warning });
    };
    return { request, act };
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
    remedy: "Leave thread out for your own evaluations, or use any for all threads.",
  });
}

/** Whether the breakpoint can stop threads that run no evaluation of this agent. */
function isForOthers(watched: number | "any" | undefined, stops: readonly DebuggedStop[]): boolean {
  if (watched === undefined || watched === "any") return watched === "any";
  return !stops.some(({ thread, evaluation }) => thread === watched && evaluation !== undefined);
}

export const breakpointList = defineTool({
  name: "breakpoint_list",
  family: "breakpoints",
  needs: "runtime",
  effect: "reads",
  title: "List breakpoints",
  description: "List all breakpoints of this session.",
  input: () => z.strictObject({}),
  output: () => z.looseObject({ breakpoints: z.array(z.looseObject({})).optional() }),
  async run(_, { session, agent, cancelled, signal }) {
    // Without an image there are no breakpoints.
    if ((await agent.host.current(cancelled)) === undefined) return jsonAnswer({ breakpoints: [] });
    const { client } = await session();
    return jsonAnswer(breakpointListData(await client.breakpoints.list({ signal })));
  },
});

export const breakpointRemove = defineTool({
  name: "breakpoint_remove",
  family: "breakpoints",
  needs: "runtime",
  effect: "removes-breakpoint",
  title: "Remove breakpoint",
  description: "Remove a breakpoint.",
  input: () => z.strictObject({ id: z.int().describe("Breakpoint id") }),
  output: () => z.looseObject({ removed: z.number().optional() }),
  async run({ id }, { session, agent, cancelled, signal }) {
    if ((await agent.host.current(cancelled)) === undefined)
      throw new Refusal("NO_SUCH_BREAKPOINT", `There is no breakpoint ${id}.`);
    const { client } = await session();
    await client.breakpoints.remove(id, { signal });
    return jsonAnswer({ removed: id });
  },
});
