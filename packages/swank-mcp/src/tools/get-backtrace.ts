import * as z from "zod";
import { fullBacktrace, KEPT_FRAMES } from "../format/backtrace.js";
import { NO_ERROR } from "../format/last-error-text.js";
import { errorMeta } from "../format/outcome-data.js";
import { defineTool } from "../tool.js";
import { textAnswer } from "../tool-answer.js";

export const getBacktrace = defineTool({
  name: "get-backtrace",
  title: "Get backtrace",
  description:
    "Show the call stack of the most recent error, innermost frame first, Lisp's own frames included. The numbers are those of the error report. The answer stays the same until an evaluation succeeds or fails.",
  input: z.strictObject({
    "max-frames": z.int().min(1).max(KEPT_FRAMES).default(20).describe("Most frames to show"),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run({ "max-frames": max }, { lastError }) {
    const error = lastError.current;
    if (error === undefined) return textAnswer(NO_ERROR);
    return { ...textAnswer(fullBacktrace(error, max)), meta: errorMeta(error) };
  },
});
