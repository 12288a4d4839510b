import * as z from "zod";
import type { ApprovalRequest } from "../approval-request.js";
import { inDebugger } from "../debugger-refusals.js";
import type { DebuggedStop } from "../lisp-port.js";
import { Refusal } from "../refusal.js";
import { chooseRestart, type RestartChoice } from "../restart-choice.js";
import { answerResumed } from "../resume.js";
import { findStop } from "../stop-address.js";
import { defineTool } from "../tool.js";
import { checkFrame } from "./check-frame.js";
import { ownership } from "./foreign.js";
import { callOf, restartRequest } from "./resuming.js";
import { threadInput, timeoutInput } from "./stop-inputs.js";

export const debuggerInvokeRestart = defineTool({
  name: "debugger_invoke_restart",
  title: "Invoke restart",
  description:
    'Invoke a restart and report how the stopped evaluation goes on. Besides the listed ones: RESTART-FRAME, values ["frame"], calls the frame\'s function again as it is defined now; RETURN-FROM-FRAME, values ["frame", "expression"].',
  input: z.strictObject({
    restart: z.union([z.int(), z.string()]).describe("Number from 1, or name"),
    values: z.array(z.string()).default([]).describe("Lisp expressions, one per argument"),
    thread: threadInput,
    timeout: timeoutInput,
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  async run({ restart, values, thread, timeout }, context) {
    const found = await findStop(thread, context);
    const { session, stop } = found;
    const choice = chooseRestart(stop, restart, values);
    if (choice.kind !== "restart") checkFrame(choice.frame, stop);
    await context.approve({ ...(await request(choice, stop, values)), ...ownership(stop, session) });
    const seconds = timeout ?? context.config.timeout;
    const options = { timeout: seconds * 1000, signal: context.signal };
    return answerResumed(found, () => invoke(stop, choice, values, options), context, seconds);
  },
});

async function request(choice: RestartChoice, stop: DebuggedStop, values: readonly string[]): Promise<ApprovalRequest> {
  if (choice.kind === "restart") return restartRequest(choice.restart, values, stop);
  const call = ["Frame", await callOf(choice.frame, stop)] as const;
  return {
    operation: ":modify-restarts",
    circumstances: [`Thread ${stop.thread}/${stop.level}, stopped by ${stop.condition.type}`],
    stop,
    ...(choice.kind === "restart-frame"
      ? { wish: `call frame #${choice.frame} again`, particulars: [call] }
      : { wish: `return a value from frame #${choice.frame}`, particulars: [call, ["Value", choice.code] as const] }),
  };
}

interface Options {
  readonly timeout: number;
  readonly signal: AbortSignal;
}

async function invoke(
  stop: DebuggedStop,
  choice: RestartChoice,
  values: readonly string[],
  options: Options,
): Promise<void> {
  switch (choice.kind) {
    case "restart":
      return withValues(() => stop.invokeRestart(choice.restart.index, values, options));
    case "restart-frame":
      return stop.restartFrame(choice.frame);
    case "return-from-frame":
      return stop.returnFromFrame(choice.frame, choice.code, options);
  }
}

/** What is wrong with the values, the client calls a wrong argument; the agent's own arguments are right in form. */
async function withValues(action: () => Promise<void>): Promise<void> {
  try {
    await inDebugger(action);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "INVALID_ARGUMENT")
      throw new Refusal("INVALID_RESTART_VALUES", error.message, { cause: error });
    throw error;
  }
}
