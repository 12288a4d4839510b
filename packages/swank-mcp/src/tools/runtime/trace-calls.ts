import type { TraceSource } from "swank-client/types";
import * as z from "zod";
import type { ApprovalRequest } from "../../agent/approval-request.js";
import { defineTool } from "../../calls/define-tool.js";
import { timeoutInput } from "../../calls/stop-inputs.js";
import { traceAnswer } from "../../format/trace.js";
import type { LispSession } from "../../image/lisp-session.js";
import { Refusal } from "../../refusals/refusal.js";
import { answerRun, WATCH_MARGIN } from "./answer-run.js";

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
      request: requestFor(source, what, session),
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

/** What is traced. */
interface What {
  readonly functions?: readonly string[] | undefined;
  readonly package?: string | undefined;
  readonly threads?: readonly number[] | undefined;
  readonly condition?: string | undefined;
}

/** The request to the user: other threads of an attached image run slower while they are recorded. */
function requestFor(source: TraceSource, what: What, { origin }: LispSession): ApprovalRequest | undefined {
  const { functions = [], package: packageName, threads, condition } = what;
  if (origin.kind !== "attached" || ("code" in source && threads === undefined)) return undefined;
  return {
    operation: ":modify-running-code",
    action: "record calls in threads of the program",
    particulars: [
      ["Functions", [...functions, ...(packageName === undefined ? [] : [`all of ${packageName}`])].join(", ")],
      ["Threads", threads === undefined ? "all" : threads.join(", ")],
      ...(condition === undefined ? [] : [["Condition", condition] as const]),
      ...("seconds" in source ? [["Seconds", String(source.seconds)] as const] : [["Code", source.code] as const]),
    ],
    isForeign: true,
    instead: "Give code: only its own calls are then recorded.",
  };
}
