import * as z from "zod";
import { defineStopTool } from "../../calls/define-stop-tool.js";
import { answerResumed } from "../../calls/resume.js";
import { inputShown, restartToContinue } from "../../calls/resuming.js";
import type { AddressedStop } from "../../calls/stop-address.js";
import { stdinInput, threadInput, timeoutInput } from "../../calls/stop-inputs.js";
import type { ReadOnlyStop, StopRequest } from "../../calls/stop-plan.js";
import type { ToolContext } from "../../calls/tool-context.js";
import type { DebuggedStop, StepMode } from "../../image/lisp-port.js";
import type { ToolAnswer } from "../../text/tool-answer.js";

export const debuggerStep = defineStopTool({
  name: "debugger_step",
  family: "debug",
  effect: "resumes",
  title: "Step",
  description:
    "Step through code from a breakpoint, (break) or (step ...): into the next call, over it, or out of the function. Reports the next stop.",
  input: (config) =>
    z.strictObject({
      mode: z.enum(["into", "over", "out"]),
      thread: threadInput,
      stdin: stdinInput,
      timeout: timeoutInput(config),
    }),
  async plan({ mode, stdin, timeout }, stop, context) {
    return {
      request: stop.owner === undefined ? requestTo(mode, stop, stdin) : "impossible-elsewhere",
      act: (found) => step(found, mode, stdin, context, timeout ?? context.config.timeout),
    };
  },
});

/** Steps, and carries the approvals for the stop over to the stop that the step leads to. */
async function step(
  found: AddressedStop,
  mode: StepMode,
  stdin: string | undefined,
  context: ToolContext,
  seconds: number,
): Promise<ToolAnswer> {
  const { session, stop } = found;
  const answer = await answerResumed(found, () => stop.step(mode, { stdin }), context, seconds);
  const next = session.client.stops.find((other) => isNext(other, stop));
  if (next?.reason === "step") context.agent.approvals.carry(stop, next);
  return answer;
}

/** Whether a stop can be the next one of the same code: a thread stopped inside a stop has several. */
function isNext(other: DebuggedStop, { thread, level, evaluation }: DebuggedStop): boolean {
  return other.thread === thread && other.level === level && other.evaluation === evaluation;
}

/** The request for a step. A step from an error invokes the error's CONTINUE restart first, so the request shows it. */
function requestTo(mode: StepMode, stop: ReadOnlyStop, stdin: string | undefined): StopRequest {
  const call = stop.condition.frames.find(({ kind }) => kind === "user")?.call;
  const restart = restartToContinue(stop);
  const code = ["Code", stop.data.detail.form ?? call ?? stop.condition.message] as const;
  return {
    operation: restart === undefined ? ":modify-running-code" : ":modify-restarts",
    action: mode === "over" ? "step over a call" : `step ${mode}`,
    particulars: [
      ...(restart === undefined ? [] : [[restart.name, restart.description] as const]),
      code,
      ...inputShown(stdin),
    ],
    circumstances: [...(call === undefined ? [] : [`In ${call}`]), `Thread ${stop.thread}/${stop.level}`],
  };
}
