import * as z from "zod";
import { resetMeta, resetText } from "../format/reset-text.js";
import type { LispSession } from "../lisp-session.js";
import { defineTool, type ToolContext } from "../tool.js";
import { type ToolAnswer, textAnswer } from "../tool-answer.js";

const FRESH_NEXT = "The next call that needs an image launches a fresh one.";
const CONNECTED_NEXT =
  "What this session has defined there could not be undefined. The next call that needs the image connects anew.";

const KEPT = "The image was kept, as somebody else is connected to it.";

export const resetSession = defineTool({
  name: "reset-session",
  title: "Reset session",
  description:
    "Begin anew: abort what is stopped or running, remove breakpoints, forget the last error, history and package. An image of the server's own is replaced by a fresh one; in one that others use too, only the functions, macros and variables that this session defined are undefined.",
  input: z.strictObject({}),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  async run(_, context) {
    const session = await context.currentSession();
    if (session?.origin.kind === "own" && !(await hasOthers(session))) return replaceImage(session, context);
    const answer = session === undefined ? await withoutImage(context) : await cleanUnlessGone(session, context);
    beginAnew(context);
    return answer;
  },
});

async function withoutImage({ config, lastLoss }: ToolContext): Promise<ToolAnswer> {
  const loss = await lastLoss();
  if (loss === undefined) return textAnswer("Session reset. No image was in use.");
  return textAnswer(`Session reset. ${loss} ${config.attach === undefined ? FRESH_NEXT : CONNECTED_NEXT}`);
}

/** Whether anybody else is connected; an image that does not say so soon is of no use to them either. */
async function hasOthers({ client }: LispSession): Promise<boolean> {
  return (await client.otherClients().catch(() => 0)) > 0;
}

async function replaceImage(session: LispSession, context: ToolContext): Promise<ToolAnswer> {
  try {
    const { client } = await context.renew(session);
    return textAnswer(`Session reset. A fresh image (pid ${client.info.pid}) has taken the place of the old one.`);
  } finally {
    // whether or not another image comes up, the old one is gone
    beginAnew(context);
  }
}

/** An image that is found to be gone only now is as good as one that was known to be. */
async function cleanUnlessGone(session: LispSession, context: ToolContext): Promise<ToolAnswer> {
  try {
    return await cleanImage(session, context.signal);
  } catch (error) {
    if (session.client.isOpen) throw error;
    await session.client.closed;
    return withoutImage(context);
  }
}

/** @throws SwankError `REQUEST_TIMEOUT` soon, with nothing changed, when the image answers nothing at all. */
async function cleanImage(session: LispSession, signal: AbortSignal): Promise<ToolAnswer> {
  await session.directory(signal);
  session.noteReset();
  const report = await session.client.reset();
  session.follow("COMMON-LISP-USER");
  const kept = session.origin.kind === "own" ? [KEPT] : [];
  return { ...textAnswer(resetText(report), ...kept), meta: resetMeta(report) };
}

/** The server's own part of a session. */
function beginAnew({ lastError, stops }: ToolContext): void {
  stops.clear();
  lastError.apply({ kind: "clear" });
}
