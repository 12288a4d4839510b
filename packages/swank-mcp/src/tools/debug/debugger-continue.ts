import * as z from "zod";
import { defineStopTool } from "../../calls/define-stop-tool.js";
import { answerResumed } from "../../calls/resume.js";
import { restartRequest, restartToContinue } from "../../calls/resuming.js";
import { stdinInput, threadInput, timeoutInput } from "../../calls/stop-inputs.js";
import { chooseRestart, withRestartTaken } from "./restart-choice.js";

export const debuggerContinue = defineStopTool({
  name: "debugger_continue",
  family: "debug",
  effect: "resumes",
  title: "Continue",
  description: "Continue execution of a stopped thread as if it had not stopped, and report the outcome.",
  input: (config) => z.strictObject({ thread: threadInput, stdin: stdinInput, timeout: timeoutInput(config) }),
  async plan({ stdin, timeout }, stop, context) {
    const seconds = timeout ?? context.config.timeout;
    const restart = restartToContinue(stop);
    return {
      request: stdin === undefined || restart === undefined ? "continue" : restartRequest(restart, [], stop, stdin),
      async act(found) {
        const answer = await answerResumed(found, () => found.stop.continue({ stdin }), context, seconds);
        return restart === undefined ? answer : withRestartTaken(answer, chooseRestart(stop, restart.name, []));
      },
    };
  },
});
