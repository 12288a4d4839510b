import * as z from "zod";
import { lastErrorText, NO_ERROR } from "../format/last-error-text.js";
import { errorMeta } from "../format/outcome-data.js";
import { defineTool } from "../tool.js";
import { textAnswer } from "../tool-answer.js";

export const describeLastError = defineTool({
  name: "describe-last-error",
  title: "Describe last error",
  description:
    "Get detailed information about the most recent error. Returns the error type, message, available restarts, and backtrace from the last failed evaluation. Useful for diagnosing why code failed.",
  input: z.strictObject({}),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run(_, { lastError }) {
    const error = lastError.current;
    if (error === undefined) return textAnswer(NO_ERROR);
    return { ...textAnswer(lastErrorText(error)), meta: errorMeta(error) };
  },
});
