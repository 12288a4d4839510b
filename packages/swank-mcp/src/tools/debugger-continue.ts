import * as z from "zod";
import type { ApprovalRequest } from "../approval-request.js";
import type { DebuggedStop, StopOwner } from "../lisp-port.js";
import { answerResumed } from "../resume.js";
import { findStop } from "../stop-address.js";
import { defineTool } from "../tool.js";
import { threadInput, timeoutInput } from "./stop-inputs.js";

export const debuggerContinue = defineTool({
  name: "debugger_continue",
  title: "Continue",
  description: "Continue execution of a stopped thread as if it had not stopped, and report what comes of it.",
  input: z.strictObject({ thread: threadInput, timeout: timeoutInput }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  async run({ thread, timeout }, context) {
    const found = await findStop(thread, context);
    const { stop } = found;
    if (stop.owner !== undefined) await context.approve(request(stop, stop.owner));
    return answerResumed(found, () => stop.continue(), context, timeout ?? context.config.timeout);
  },
});

/** What is this session's own to continue, nobody need allow. */
function request(stop: DebuggedStop, owner: StopOwner): ApprovalRequest {
  return {
    operation: ":modify-running-code",
    wish: "continue a stopped thread",
    particulars: [[stop.condition.type, stop.condition.message]],
    circumstances: [`Thread ${stop.thread}/${stop.level}`],
    stop,
    isForeign: true,
    owner: owner.text,
  };
}
