import type { types } from "swank-client";
import * as z from "zod";
import type { ToolAnswer } from "../base/answer.js";
import { Refusal } from "../base/refusals.js";
import { answerResumed } from "../call/evaluate.js";
import {
  type AddressedStop,
  defineStopTool,
  inputShown,
  type ReadOnlyStop,
  restartRequest,
  restartToContinue,
  type StopRequest,
} from "../call/stop-tool.js";
import { stdinInput, type ToolContext, threadInput, timeoutInput } from "../call/tool.js";
import { placeName } from "../report/stop.js";
import type { DebuggedStop } from "../session/lisp-port.js";
import { cutName, cutText } from "../text/cut.js";
import { chooseRestart, withRestartTaken } from "./invoke-restart.js";

export const debuggerContinue = defineStopTool({
  name: "debugger_continue",
  family: "debug",
  effect: "resumes",
  title: "Continue",
  description: "Continue execution of a stopped thread as if it had not stopped, and report the outcome.",
  input: (config) => z.strictObject({ thread: threadInput, stdin: stdinInput, timeout: timeoutInput(config) }),
  async plan({ stdin, timeout }, stop, context) {
    checkContinuation(stop);
    const seconds = timeout ?? context.config.timeout;
    const restart = restartToContinue(stop);
    return {
      request: stdin === undefined || restart === undefined ? "continue" : restartRequest(restart, [], stop, stdin),
      async act(found) {
        const answerOf = stop.data.detail.step === undefined ? answerResumed : answerStep;
        const answer = await answerOf(found, () => found.stop.continue({ stdin }), context, seconds);
        return restart === undefined ? answer : withRestartTaken(answer, chooseRestart(stop, restart.name, []));
      },
    };
  },
});

/** The refusal names the stop, because `auto` may mean an older one than the caller thinks. */
function checkContinuation(stop: ReadOnlyStop): void {
  const { reason, continuation, condition } = stop;
  if (reason !== "error" || continuation !== undefined) return;
  throw new Refusal(
    "NO_SUCH_RESTART",
    `The stop of thread ${placeName(stop)} at ${cutName(condition.type)} has no CONTINUE restart.`,
  );
}

export const debuggerStep = defineStopTool({
  name: "debugger_step",
  family: "debug",
  needs: "stepping",
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
    checkNoError(stop);
    return {
      request: stop.owner === undefined ? requestTo(mode, stop, stdin) : "impossible-elsewhere",
      act: (found) =>
        answerStep(found, () => found.stop.step(mode, { stdin }), context, timeout ?? context.config.timeout),
    };
  },
});

/** Leaves a stop. Carries the approvals for it over to the stop that a step leads to, or at which the step was interrupted. */
async function answerStep(
  found: AddressedStop,
  leave: () => Promise<void>,
  context: ToolContext,
  seconds: number,
): Promise<ToolAnswer> {
  const { session, stop } = found;
  const answer = await answerResumed(found, leave, context, seconds);
  const next = session.client.stops.find((other) => isNext(other, stop));
  if (next !== undefined && isOfStep(next)) context.agent.approvals.carry(stop, next);
  return answer;
}

function isOfStep({ reason, data }: DebuggedStop): boolean {
  return reason === "step" || data.detail.step !== undefined;
}

/** Whether a stop can be the next one of the same code: a thread stopped inside a stop has several. */
function isNext(other: DebuggedStop, { thread, level, evaluation }: DebuggedStop): boolean {
  return other.thread === thread && other.level === level && other.evaluation === evaluation;
}

/** A step from an error would first leave the error through its CONTINUE restart, which nobody asked for. */
function checkNoError({ owner, reason, continuation }: ReadOnlyStop): void {
  if (reason !== "error" || owner !== undefined || continuation === undefined) return;
  throw new Refusal("NOT_STEPPABLE", "An error cannot be stepped from.", {
    remedy: `debugger_continue invokes its CONTINUE restart: ${cutText(continuation.description)}`,
  });
}

/** The request for a step. A step from a break invokes its CONTINUE restart first, which the program can have defined. */
function requestTo(mode: types.StepMode, stop: ReadOnlyStop, stdin: string | undefined): StopRequest {
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
