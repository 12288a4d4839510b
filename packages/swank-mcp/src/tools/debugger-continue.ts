import * as z from "zod";
import type { ApprovalRequest } from "../approval-request.js";
import type { DebuggedStop } from "../lisp-port.js";
import type { LispSession } from "../lisp-session.js";
import { answerResumed } from "../resume.js";
import { findStop } from "../stop-address.js";
import { defineTool } from "../tool.js";
import { isForeign, ownership } from "./foreign.js";
import { restartRequest, restartToContinue } from "./resuming.js";
import { threadInput, timeoutInput } from "./stop-inputs.js";

export const debuggerContinue = defineTool({
  name: "debugger_continue",
  title: "Continue",
  description: "Continue execution of a stopped thread as if it had not stopped, and report what comes of it.",
  input: z.strictObject({ thread: threadInput, timeout: timeoutInput }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  async run({ thread, timeout }, context) {
    const found = await findStop(thread, context);
    const { session, stop } = found;
    const request = neededApproval(stop, session);
    if (request !== undefined) await context.approve({ ...request, ...ownership(stop, session) });
    return answerResumed(found, () => stop.continue(), context, timeout ?? context.config.timeout);
  },
});

/** Resuming this session's own code needs no approval, unless an error stopped it: CONTINUE is then a restart like others. */
function neededApproval(stop: DebuggedStop, session: LispSession): ApprovalRequest | undefined {
  const restart = restartToContinue(stop);
  if (restart !== undefined) return restartRequest(restart, [], stop);
  return isForeign(stop, session) ? continuing(stop) : undefined;
}

function continuing(stop: DebuggedStop): ApprovalRequest {
  return {
    operation: ":modify-running-code",
    wish: "continue a stopped thread",
    particulars: [[stop.condition.type, stop.condition.message]],
    circumstances: [`Thread ${stop.thread}/${stop.level}`],
    stop,
  };
}
