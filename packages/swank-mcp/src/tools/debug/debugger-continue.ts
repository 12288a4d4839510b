import * as z from "zod";
import { defineStopTool } from "../../calls/define-stop-tool.js";
import { answerResumed } from "../../calls/resume.js";
import { threadInput, timeoutInput } from "../../calls/stop-inputs.js";

export const debuggerContinue = defineStopTool({
  name: "debugger_continue",
  family: "debug",
  effect: "resumes",
  title: "Continue",
  description: "Continue execution of a stopped thread as if it had not stopped, and report the outcome.",
  input: (config) => z.strictObject({ thread: threadInput, timeout: timeoutInput(config) }),
  async plan({ timeout }, _, context) {
    const seconds = timeout ?? context.config.timeout;
    return {
      request: "continue",
      act: (found) => answerResumed(found, () => found.stop.continue(), context, seconds),
    };
  },
});
