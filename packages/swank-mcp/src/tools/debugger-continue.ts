import * as z from "zod";
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
    return answerResumed(found, () => found.stop.continue(), context, timeout ?? context.config.timeout);
  },
});
