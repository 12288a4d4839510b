import * as z from "zod";
import { defineTool } from "../../calls/define-tool.js";
import { packageLine } from "../../format/frames.js";
import { lastErrorText, NO_ERROR } from "../../format/last-error-text.js";
import { errorMeta } from "../../format/outcome-data.js";
import { textAnswer } from "../../text/tool-answer.js";

export const describeLastError = defineTool({
  name: "describe-last-error",
  family: "core",
  effect: "reads",
  title: "Describe last error",
  description:
    "Get detailed information about the most recent error. Returns the error type, message, available restarts, and backtrace from the last failed evaluation. Useful for diagnosing why code failed.",
  input: () => z.strictObject({}),
  run(_, { agent, guide }) {
    const error = agent.lastError.current;
    if (error === undefined) return textAnswer(NO_ERROR);
    return { ...textAnswer(lastErrorText(error, guide), ...packageLine(error)), meta: errorMeta(error) };
  },
});
