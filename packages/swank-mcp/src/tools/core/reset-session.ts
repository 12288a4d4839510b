import * as z from "zod";
import { defineTool } from "../../calls/define-tool.js";
import type { ToolContext } from "../../calls/tool-context.js";
import { resetMeta, resetText } from "../../format/reset-text.js";
import type { LispSession } from "../../image/lisp-session.js";
import { type ToolAnswer, textAnswer } from "../../text/tool-answer.js";

const FRESH_NEXT = "The next call that needs an image launches a fresh one.";
const CONNECTED_NEXT =
  "The session's definitions in that image could not be undefined. The next call that needs the image connects again.";

const KEPT = "The image was kept because another client is connected to it.";

/** Notice for the other clients of this server, which share the image. */
const RESET_BY_OTHER =
  "Another client of this server has reset the session: earlier stops and definitions are gone. So are the breakpoints of breakpoint_set.";

export const resetSession = defineTool({
  name: "reset-session",
  family: "core",
  effect: "resets",
  title: "Reset session",
  description: ({ tools }) =>
    `Start over: abort stopped and running evaluations, ${tools.includes("breakpoints") ? "remove breakpoints, " : ""}forget the last error, history and package. An image that the server launched is replaced by a fresh one; in an image that other clients use, only the functions, macros and variables that this session defined are undefined.`,
  input: () => z.strictObject({}),
  async run(_, context) {
    const session = await context.currentSession();
    if (session?.origin.kind === "own" && !(await hasOthers(session))) return replaceImage(session, context);
    const answer = session === undefined ? await withoutImage(context) : await cleanUnlessGone(session, context);
    forgetState(context);
    if (session !== undefined) context.agent.host.tellOthers(context.agent, RESET_BY_OTHER);
    return answer;
  },
});

async function withoutImage({ config, lastLoss }: ToolContext): Promise<ToolAnswer> {
  const loss = await lastLoss();
  if (loss === undefined) return textAnswer("Session reset. No image was in use.");
  return textAnswer(`Session reset. ${loss} ${config.attach === undefined ? FRESH_NEXT : CONNECTED_NEXT}`);
}

/** Whether other clients are connected. False if the image does not answer: it is then of no use to them either. */
async function hasOthers({ client }: LispSession): Promise<boolean> {
  return (await client.otherClients().catch(() => 0)) > 0;
}

async function replaceImage(session: LispSession, context: ToolContext): Promise<ToolAnswer> {
  try {
    const { client } = await context.renew(session);
    return textAnswer(`Session reset. A fresh image (pid ${client.info.pid}) has replaced the old one.`);
  } finally {
    // The old image is gone even if the new one does not start.
    forgetState(context);
    context.agent.host.tellOthers(context.agent, RESET_BY_OTHER);
  }
}

/** Cleans the image. If the connection turns out to be lost, answers as if that had been known before. */
async function cleanUnlessGone(session: LispSession, context: ToolContext): Promise<ToolAnswer> {
  try {
    return await cleanImage(session, context.signal);
  } catch (error) {
    if (session.client.isOpen) throw error;
    await session.client.closed;
    return withoutImage(context);
  }
}

/** @throws SwankError `REQUEST_TIMEOUT` - after a few seconds, with nothing changed, if the image does not answer. */
async function cleanImage(session: LispSession, signal: AbortSignal): Promise<ToolAnswer> {
  await session.directory(signal);
  session.noteReset();
  const report = await session.client.reset();
  session.follow("COMMON-LISP-USER");
  const kept = session.origin.kind === "own" ? [KEPT] : [];
  return { ...textAnswer(resetText(report), ...kept), meta: resetMeta(report) };
}

/** Forgets the server's own state of a session. */
function forgetState({ agent }: ToolContext): void {
  agent.stops.clear();
  agent.lastError.apply({ kind: "clear" });
}
