import * as z from "zod";
import { defineTool } from "../../calls/define-tool.js";
import { fullBacktrace, KEPT_FRAMES } from "../../format/backtrace.js";
import { packageLine } from "../../format/frames.js";
import { NO_ERROR } from "../../format/last-error-text.js";
import { errorMeta } from "../../format/outcome-data.js";
import { textAnswer } from "../../text/tool-answer.js";

export const getBacktrace = defineTool({
  name: "get-backtrace",
  family: "core",
  effect: "reads",
  title: "Get backtrace",
  description:
    "Show the call stack of the most recent error, innermost frame first, including Lisp's own frames. The numbers are those of the error report. The answer stays the same until an evaluation succeeds or fails.",
  input: () =>
    z.strictObject({
      "max-frames": z.int().min(1).max(KEPT_FRAMES).default(20).describe("Most frames to show"),
    }),
  run({ "max-frames": max }, { agent }) {
    const error = agent.lastError.current;
    if (error === undefined) return textAnswer(NO_ERROR);
    return { ...textAnswer(fullBacktrace(error, max), ...packageLine(error)), meta: errorMeta(error) };
  },
});
