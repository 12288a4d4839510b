import type { ProfileSource } from "swank-client/types";
import * as z from "zod";
import { defineTool } from "../../calls/define-tool.js";
import { timeoutInput } from "../../calls/stop-inputs.js";
import { profileAnswer } from "../../format/profile.js";
import { Refusal } from "../../refusals/refusal.js";
import { answerRun, WATCH_MARGIN } from "./answer-run.js";
import { watchRequest } from "./watch-request.js";

export const profileCode = defineTool({
  name: "profile-code",
  family: "runtime",
  effect: "evaluates",
  title: "Profile code",
  description:
    "Find what is slow, allocates or is called often, in code or in all threads for some seconds: top functions with lines, GC, time, bytes.",
  input: (config) =>
    z.strictObject({
      code: z.string().min(1).optional().describe("Let it run a second"),
      seconds: z.number().gt(0).max(3600).optional().describe("Instead"),
      mode: z.enum(["cpu", "alloc", "calls"]).optional(),
      package: z.string().min(1).optional().describe("Count only its functions"),
      functions: z.array(z.string()).optional(),
      against: z.string().min(1).optional().describe("Code to compare with"),
      timeout: timeoutInput(config),
    }),
  async plan({ code, seconds, against, timeout, ...what }, context) {
    const source = sourceOf(code, seconds, against);
    const session = await context.session();
    const time = "seconds" in source ? source.seconds + WATCH_MARGIN : undefined;
    return {
      request: what.mode === "calls" ? watchRequest("count calls", source, what, session) : undefined,
      async act() {
        const run = await session.client.program.profile(source, { ...what, signal: context.signal });
        return answerRun(run, timeout ?? time, context, profileAnswer);
      },
    };
  },
});

function sourceOf(code: string | undefined, seconds: number | undefined, against: string | undefined): ProfileSource {
  if (code !== undefined && seconds === undefined) return { code, against };
  if (code === undefined && seconds !== undefined && against === undefined) return { seconds };
  throw new Refusal("INVALID_ARGUMENTS", "profile-code: Give either code or seconds; against needs code.", {
    remedy: "Correct this and call again.",
  });
}
