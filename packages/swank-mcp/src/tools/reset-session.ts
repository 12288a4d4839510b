import * as z from "zod";
import { resetMeta, resetText } from "../format/reset-text.js";
import type { LispSession } from "../lisp-session.js";
import { defineTool, type ToolContext } from "../tool.js";
import { type ToolAnswer, textAnswer } from "../tool-answer.js";

const NOTHING_TO_RESET = "Session reset. No image was in use.";

export const resetSession = defineTool({
  name: "reset-session",
  title: "Reset session",
  description:
    "Begin anew: abort what is stopped or running, remove breakpoints, forget the last error, history and package. An image of the server's own is replaced by a fresh one; in an attached image only the functions, macros and variables that this session defined are undefined.",
  input: z.strictObject({}),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  async run(_, context) {
    const session = await context.currentSession();
    if (session?.origin.kind === "own") return replaceImage(session, context);
    const answer = session === undefined ? textAnswer(NOTHING_TO_RESET) : await cleanImage(session, context.signal);
    beginAnew(context);
    return answer;
  },
});

async function replaceImage(session: LispSession, context: ToolContext): Promise<ToolAnswer> {
  try {
    const { client } = await context.renew(session);
    return textAnswer(`Session reset. A fresh image (pid ${client.info.pid}) has taken the place of the old one.`);
  } finally {
    // whether or not another image comes up, the old one is gone
    beginAnew(context);
  }
}

/** @throws SwankError `REQUEST_TIMEOUT` soon, with nothing changed, when the image answers nothing at all. */
async function cleanImage(session: LispSession, signal: AbortSignal): Promise<ToolAnswer> {
  await session.directory(signal);
  session.noteReset();
  const report = await session.client.reset();
  session.follow("COMMON-LISP-USER");
  return { ...textAnswer(resetText(report)), meta: resetMeta(report) };
}

/** The server's own part of a session. */
function beginAnew({ lastError, stops }: ToolContext): void {
  stops.clear();
  lastError.apply({ kind: "clear" });
}
