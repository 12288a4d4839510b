import * as z from "zod";
import type { ApprovalRequest } from "../approval-request.js";
import type { DebuggedStop, StepMode } from "../lisp-port.js";
import { answerResumed } from "../resume.js";
import { findStop } from "../stop-address.js";
import { defineTool } from "../tool.js";
import { ownership } from "./foreign.js";
import { restartToContinue } from "./resuming.js";
import { threadInput, timeoutInput } from "./stop-inputs.js";

export const debuggerStep = defineTool({
  name: "debugger_step",
  title: "Step",
  description:
    "Step through code from a breakpoint, (break) or (step ...): into the next call, over it, or out of the function. Reports where it stops next.",
  input: z.strictObject({
    mode: z.enum(["into", "over", "out"]),
    thread: threadInput,
    timeout: timeoutInput,
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  async run({ mode, thread, timeout }, context) {
    const found = await findStop(thread, context);
    const { session, stop } = found;
    // another client's cannot be stepped at all
    if (stop.owner === undefined) await context.approve({ ...request(mode, stop), ...ownership(stop, session) });
    const answer = await answerResumed(found, () => stop.step(mode), context, timeout ?? context.config.timeout);
    const next = session.client.stops.find((other) => other.thread === stop.thread);
    if (next?.reason === "step") context.approvals.carry(stop, next);
    return answer;
  },
});

/** Stepping from an error invokes its CONTINUE first. */
function request(mode: StepMode, stop: DebuggedStop): ApprovalRequest {
  const call = stop.condition.frames.find(({ kind }) => kind === "user")?.call;
  const restart = restartToContinue(stop);
  const code = ["Code", stop.detail.form ?? call ?? stop.condition.message] as const;
  return {
    operation: restart === undefined ? ":modify-running-code" : ":modify-restarts",
    wish: mode === "over" ? "step over a call" : `step ${mode}`,
    particulars: restart === undefined ? [code] : [[restart.name, restart.description], code],
    circumstances: [...(call === undefined ? [] : [`In ${call}`]), `Thread ${stop.thread}/${stop.level}`],
    stop,
  };
}
