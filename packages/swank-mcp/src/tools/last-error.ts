import * as z from "zod";
import { textAnswer } from "../base/answer.js";
import { defineTool } from "../call/tool.js";
import { errorMeta } from "../report/data.js";
import { fullBacktrace, KEPT_FRAMES, lastErrorText, NO_ERROR, packageLine } from "../report/stop.js";

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
