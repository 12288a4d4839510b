import type { types } from "swank-client";
import { profileCode as preparedProfile, timeCode } from "swank-client/internal";
import * as z from "zod";
import { answerWith, type ToolAnswer } from "../base/answer.js";
import { misused } from "../base/refusals.js";
import { defineTool, secondsUpTo, timeoutInput } from "../call/tool.js";
import {
  bytesText,
  countText,
  cutName,
  cutText,
  fileName,
  howMany,
  oneLine,
  percentText,
  plural,
  timeText,
} from "../text/cut.js";
import { answerRun, WATCH_MARGIN, watchRequest } from "./trace-calls.js";

export const PROFILE_META = "swank-mcp/profile";

const MAX_NAME = 90;

const MAX_VALUE = 500;

const MAX_MISSED = 300;

/** Fewer samples say little. */
const FEW = 25;

function profileAnswer(profile: types.Profile): ToolAnswer {
  const text = [
    heading(profile),
    ...profile.values.map((value) => `=> ${oneLine(value, MAX_VALUE)}`),
    ...comparisonLines(profile),
    ...tableLines(profile),
    ...pathLines(profile),
    ...remarks(profile),
  ].join("\n");
  const { stacks, ...facts } = profile;
  return answerWith([cutText(text)], PROFILE_META, facts);
}

function heading(profile: types.Profile): string {
  const { mode, samples, cost, interval, looking } = profile;
  if (profile.counts !== undefined) return countsHeading(profile, profile.counts);
  const what = mode === "cpu" ? "Processor time" : "Allocation";
  const every = mode === "cpu" ? `, one each ${interval / 1000} ms of processor time` : ", one for each new region";
  return `${what}: ${countText(samples)} ${plural(samples, "sample")}${every}. ${costText(cost)}. Switching on and off took ${timeText(looking)}.`;
}

function countsHeading(
  { samples, cost, looking }: types.Profile,
  { functions, called, looking: counting }: types.CountedCalls,
): string {
  const number = samples === 0 ? "No call" : `${countText(samples)} ${plural(samples, "call")}`;
  const what = `${countText(functions)} ${plural(functions, "function")}`;
  const idle = functions - called;
  const uncalled = idle > 0 && samples > 0 ? `; ${countText(idle)} ${plural(idle, "was", "were")} not called` : "";
  const own = `Counting took about ${timeText(counting)} of it, and switching on and off ${timeText(looking)}.`;
  return `${number} of ${what}${uncalled}. ${costText(cost)}. ${own}`;
}

function costText({ real, run, gc, bytes }: types.Cost): string {
  const share = run === 0 ? "" : ` (${percentText(gc, run)})`;
  return `${timeText(real)} real, ${timeText(run)} processor, ${timeText(gc)} GC${share}, ${bytesText(bytes)} allocated`;
}

function comparisonLines({ comparison }: types.Profile): string[] {
  if (comparison === undefined) return [];
  const { rounds, code, against } = comparison;
  return [
    `Without the profiler, medians of ${rounds} rounds in turn:`,
    `  code:    ${costText(code)}`,
    `  against: ${costText(against)}`,
    `  ${ratioText(code, against)}`,
  ];
}

function ratioText(code: types.Cost, against: types.Cost): string {
  if (code.real === 0 || against.real === 0) return "Too fast to compare: let both run longer.";
  const ratio = against.real / code.real;
  return ratio >= 1
    ? `code is ${ratio.toFixed(2)} times as fast as against.`
    : `against is ${(1 / ratio).toFixed(2)} times as fast as code.`;
}

function tableLines({ functions, samples, counts }: types.Profile): string[] {
  if (functions.length === 0) return [];
  const rows = functions.map((row) => {
    const { name, file, line } = row;
    const place = file === undefined ? "" : `  ${fileName(file)}:${line}`;
    const figures = counts === undefined ? shares(row, samples) : countedFigures(row);
    return `${figures.join("  ")}  ${oneLine(name, MAX_NAME)}${place}`;
  });
  const title = counts === undefined ? "  self  cumul.  function" : "     calls        self      cumul.  function";
  return [title, ...rows];
}

function shares({ self, cumulative }: types.ProfiledFunction, samples: number): string[] {
  return [self, cumulative].map((count) => percentText(count, samples).padStart(6));
}

function countedFigures({ calls = 0, self, cumulative }: types.ProfiledFunction): string[] {
  return [countText(calls), timeText(self), timeText(cumulative)].map((text) => text.padStart(10));
}

function pathLines({ path, samples }: types.Profile): string[] {
  if (path.length === 0) return [];
  const steps = path.map(({ name, samples: count }) => `${oneLine(name, MAX_NAME)} ${percentText(count, samples)}`);
  return [`Hottest path: ${steps.join(" > ")}`];
}

function remarks({ end, samples, outside, elsewhere, full, replaced, counts }: types.Profile): string[] {
  const others = elsewhere.map(({ thread, samples: count }) => `${cutName(thread)} (${count})`).join(", ");
  return [
    ...(replaced ? ["The program started sb-sprof itself, which ended this profile: its samples are lost."] : []),
    ...(end === "stopped" ? ["The profile ended when the code stopped."] : []),
    ...(full ? ["The profile ended early, at its limit of samples."] : []),
    ...(outside > 0 ? [`${howMany(outside, "sample is", "samples are")} in no such function.`] : []),
    ...(others === "" ? [] : [`Not counted: samples of other threads, ${others}.`]),
    ...(counts === undefined || counts.missed.length === 0
      ? []
      : [counts.missed.map((text) => cutName(text, MAX_MISSED)).join(" ")]),
    ...(samples < FEW && !replaced && counts === undefined
      ? ["So few samples say little: let the code run longer, in a loop."]
      : []),
  ];
}

function timingAnswer({ rounds, code, against, ratio, values }: types.Timing): ToolAnswer {
  const text = [
    `Time of one run, medians of ${rounds} rounds${against === undefined ? "" : " in turn"} without a profiler:`,
    `  code:    ${timedText(code)}`,
    ...(against === undefined ? [] : [`  against: ${timedText(against)}`]),
    ...(ratio === undefined ? [] : [`  ${spreadRatio(ratio)}`]),
    ...values.map((value) => `=> ${oneLine(value, MAX_VALUE)}`),
  ].join("\n");
  return answerWith([cutText(text)], PROFILE_META, { rounds, code, ratio, against });
}

function timedText({ repeats, time, gc, bytes }: types.TimedCode): string {
  const spread = `half between ${shortTime(time.low)} and ${shortTime(time.high)}`;
  const each = repeats === 1 ? "" : `, ${countText(repeats)} runs a round`;
  return `${shortTime(time.median)} (${spread}${each}), ${shortTime(gc)} GC on average, ${bytesText(bytes)} allocated`;
}

/** Less than a microsecond counts here. */
function shortTime(nanoseconds: number): string {
  return nanoseconds < 1000 ? `${nanoseconds} ns` : timeText(nanoseconds / 1000);
}

function spreadRatio({ median, low, high }: types.Spread): string {
  const isFaster = median >= 1;
  const [middle, least, most] = isFaster ? [median, low, high] : [1 / median, 1 / high, 1 / low];
  const range = `half of the rounds between ${least.toFixed(2)} and ${most.toFixed(2)}`;
  if (low <= 1 && high >= 1) return `No difference that can be told: the ratio is ${middle.toFixed(2)}, ${range}.`;
  const [first, second] = isFaster ? ["code", "against"] : ["against", "code"];
  return `${first} is ${middle.toFixed(2)} times as fast as ${second}, ${range}.`;
}

export const profileCode = defineTool({
  name: "profile-code",
  family: "runtime",
  needs: "runtime",
  effect: "evaluates",
  title: "Profile code",
  description:
    "Find what is slow, allocates or is called often, in code or in all threads for some seconds: top functions with lines, GC, time, bytes.",
  input: (config) =>
    z.strictObject({
      code: z.string().min(1).optional().describe("Let it run a second"),
      seconds: secondsUpTo(3600).optional().describe("Instead"),
      mode: z
        .enum(["cpu", "alloc", "calls", "time"])
        .optional()
        .describe("time: no profiler, code and against in turn"),
      package: z.string().min(1).optional().describe("Count only its functions"),
      functions: z.array(z.string()).optional(),
      against: z.string().min(1).optional().describe("Code to compare with"),
      timeout: timeoutInput(config),
    }),
  async plan({ code, seconds, against, timeout, mode, ...names }, context) {
    const source = sourceOf(code, seconds, against);
    if (mode === "time") {
      if ("seconds" in source || names.package !== undefined || names.functions !== undefined)
        throw misused("profile-code", "The mode time takes code and against only.");
      return {
        request: undefined,
        async act() {
          const { client } = await context.session();
          return answerRun(
            await timeCode(client.lisp, source, { signal: context.signal }),
            timeout,
            context,
            timingAnswer,
          );
        },
      };
    }
    const what = { ...names, mode };
    const session = await context.session();
    const time = "seconds" in source ? source.seconds + WATCH_MARGIN : undefined;
    return {
      request: what.mode === "calls" ? watchRequest("count calls", source, what, session) : undefined,
      async act() {
        const run = await preparedProfile(session.client.lisp, source, { ...what, signal: context.signal });
        return answerRun(run, timeout ?? time, context, profileAnswer);
      },
    };
  },
});

function sourceOf(
  code: string | undefined,
  seconds: number | undefined,
  against: string | undefined,
): types.ProfileSource {
  if (code !== undefined && seconds === undefined) return { code, against };
  if (code === undefined && seconds !== undefined && against === undefined) return { seconds };
  throw misused("profile-code", "Give either code or seconds; against needs code.");
}
