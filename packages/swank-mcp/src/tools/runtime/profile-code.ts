import type { ProfileSource } from "swank-client/types";
import * as z from "zod";
import { defineTool } from "../../calls/define-tool.js";
import { timeoutInput } from "../../calls/stop-inputs.js";
import { profileAnswer } from "../../format/profile.js";
import { Refusal } from "../../refusals/refusal.js";
import { answerRun, WATCH_MARGIN } from "./answer-run.js";

export const profileCode = defineTool({
  name: "profile-code",
  family: "runtime",
  effect: "evaluates",
  title: "Profile code",
  description:
    "Find what is slow or allocates, in code or in all threads for some seconds: top functions with lines, hottest path, GC, time, bytes.",
  input: (config) =>
    z.strictObject({
      code: z.string().min(1).optional().describe("Let it run a second"),
      seconds: z.number().gt(0).max(3600).optional().describe("Instead"),
      mode: z.enum(["cpu", "alloc"]).optional(),
      package: z.string().min(1).optional().describe("Count only its functions"),
      against: z.string().min(1).optional().describe("Code to compare with"),
      timeout: timeoutInput(config),
    }),
  async run({ code, seconds, against, timeout, mode, package: packageName }, context) {
    const source = sourceOf(code, seconds, against);
    const { client } = await context.session();
    const run = await client.program.profile(source, { mode, package: packageName, signal: context.signal });
    const time = "seconds" in source ? source.seconds + WATCH_MARGIN : undefined;
    return answerRun(run, timeout ?? time, context, profileAnswer);
  },
});

function sourceOf(code: string | undefined, seconds: number | undefined, against: string | undefined): ProfileSource {
  if (code !== undefined && seconds === undefined) return { code, against };
  if (code === undefined && seconds !== undefined && against === undefined) return { seconds };
  throw new Refusal("INVALID_ARGUMENTS", "profile-code: Give either code or seconds; against needs code.", {
    remedy: "Correct this and call again.",
  });
}
