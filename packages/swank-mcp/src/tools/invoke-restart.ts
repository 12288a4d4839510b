import { SwankError, type types } from "swank-client";
import * as z from "zod";
import { Refusal } from "../base/refusals.js";
import { answerResumed } from "../call/evaluate.js";
import {
  callOf,
  checkFrame,
  defineStopTool,
  isAbort,
  type ReadOnlyStop,
  restartRequest,
  type StopRequest,
} from "../call/stop-tool.js";
import { stdinInput, threadInput, timeoutInput } from "../call/tool.js";
import type { DebuggedStop } from "../session/lisp-port.js";
import { chooseRestart, type RestartChoice, withRestartTaken } from "./restart-choice.js";

export const debuggerInvokeRestart = defineStopTool({
  name: "debugger_invoke_restart",
  family: "debug",
  effect: "resumes",
  title: "Invoke restart",
  description:
    'Invoke a restart and report the outcome of the stopped evaluation. Besides the listed restarts: RESTART-FRAME, values ["frame"], calls the frame\'s function again in its current definition; RETURN-FROM-FRAME, values ["frame", "expression"], returns from the frame. RETRY repeats all side effects of the form: prefer these two and the program\'s own restarts.',
  input: (config) =>
    z.strictObject({
      restart: z.union([z.int(), z.string()]).describe("Number from 1, or name"),
      values: z.array(z.string()).default([]).describe("Lisp expressions, one each"),
      thread: threadInput,
      stdin: stdinInput,
      timeout: timeoutInput(config),
    }),
  async plan({ restart, values, stdin, timeout }, stop, context) {
    const choice = chooseRestart(stop, restart, values);
    if (choice.kind !== "restart") {
      checkFrame(choice.frame, stop);
      if (stdin !== undefined) throw noInputForFrame();
    }
    const seconds = timeout ?? context.config.timeout;
    const wait = { timeout: seconds * 1000, signal: context.signal };
    return {
      request: await requestTo(choice, stop, values, stdin),
      isAbort: choice.kind === "restart" && isAbort(choice.restart, stop),
      async act(found) {
        const answer = await answerResumed(
          found,
          () => invoke(found.stop, choice, values, wait, stdin),
          context,
          seconds,
        );
        return withRestartTaken(answer, choice, values);
      },
    };
  },
});

async function requestTo(
  choice: RestartChoice,
  stop: ReadOnlyStop,
  values: readonly string[],
  stdin: string | undefined,
): Promise<StopRequest> {
  if (choice.kind === "restart") return restartRequest(choice.restart, values, stop, stdin);
  const call = ["Frame", await callOf(choice.frame, stop)] as const;
  return {
    operation: ":modify-restarts",
    circumstances: [`Thread ${stop.thread}/${stop.level}, stopped by ${stop.condition.type}`],
    ...(choice.kind === "restart-frame"
      ? { action: `call frame #${choice.frame} again`, particulars: [call] }
      : { action: `return a value from frame #${choice.frame}`, particulars: [call, ["Value", choice.code] as const] }),
  };
}

function noInputForFrame(): Refusal {
  return new Refusal("INVALID_RESTART_VALUES", "RESTART-FRAME and RETURN-FROM-FRAME take no stdin.", {
    remedy: "Leave stdin out: the code that goes on reads what the evaluation was given. The stop is unchanged.",
  });
}

async function invoke(
  stop: DebuggedStop,
  choice: RestartChoice,
  values: readonly string[],
  wait: types.WaitOptions,
  stdin: string | undefined,
): Promise<void> {
  switch (choice.kind) {
    case "restart":
      return withValues(() => stop.invokeRestart(choice.restart.index, values, { ...wait, stdin }));
    case "restart-frame":
      return stop.restartFrame(choice.frame);
    case "return-from-frame":
      return stop.returnFromFrame(choice.frame, choice.code, wait);
  }
}

/** Runs the action. The client reports bad restart values as `INVALID_ARGUMENT`; the tool's other arguments are already checked. */
async function withValues(action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    // The remedy names the problem with these values.
    if (error instanceof SwankError && error.code === "INVALID_ARGUMENT")
      throw new Refusal("INVALID_RESTART_VALUES", error.message, { cause: error, remedy: error.remedy });
    throw error;
  }
}
