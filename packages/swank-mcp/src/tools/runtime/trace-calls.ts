import type { TraceSource } from "swank-client/types";
import * as z from "zod";
import { defineTool } from "../../calls/define-tool.js";
import { timeoutInput } from "../../calls/stop-inputs.js";
import { traceAnswer } from "../../format/trace.js";
import { Refusal } from "../../refusals/refusal.js";
import { answerRun, WATCH_MARGIN } from "./answer-run.js";
import { watchRequest } from "./watch-request.js";

export const traceCalls = defineTool({
  name: "trace-calls",
  family: "runtime",
  effect: "evaluates",
  title: "Trace calls",
  description:
    "See how functions are called, in code or for some seconds: a tree with arguments, values, times, exits, conditions.",
  input: (config) =>
    z.strictObject({
      functions: z.array(z.string()).optional(),
      package: z.string().min(1).optional().describe("All its functions"),
      code: z.string().min(1).optional(),
      seconds: z.number().gt(0).max(3600).optional().describe("Instead: all threads"),
      threads: z.array(z.int()).optional(),
      condition: z.string().optional().describe("Lisp condition with the parameters' names"),
      limit: z.int().min(1).max(100_000).optional().describe("Calls (10000)"),
      timeout: timeoutInput(config),
    }),
  async plan({ code, seconds, timeout, ...what }, context) {
    const source = sourceOf(code, seconds);
    const session = await context.session();
    const run = async () => session.client.program.traceCalls(source, { ...what, signal: context.signal });
    const time = timeout ?? ("seconds" in source ? source.seconds + WATCH_MARGIN : undefined);
    return {
      request: watchRequest("record calls", source, what, session),
      async act() {
        const prepared = await run();
        return answerRun(prepared, time, context, (trace) => traceAnswer(trace, prepared), context.config.policy);
      },
    };
  },
});

function sourceOf(code: string | undefined, seconds: number | undefined): TraceSource {
  if (code !== undefined && seconds === undefined) return { code };
  if (code === undefined && seconds !== undefined) return { seconds };
  throw new Refusal("INVALID_ARGUMENTS", "trace-calls: Give either code or seconds.", {
    remedy: "Correct this and call again.",
  });
}
