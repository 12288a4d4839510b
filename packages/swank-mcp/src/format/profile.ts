import type { Cost, CountedCalls, Profile, ProfiledFunction } from "../image/lisp-port.js";
import { cutName, cutText, fileName, oneLine } from "../text/cut.js";
import type { JsonObject, ToolAnswer } from "../text/tool-answer.js";
import { bytesText, countText, percentText, timeText } from "./quantities.js";

/** Key of a result's `_meta` under which programs find the profile as data. */
const PROFILE_META = "swank-mcp/profile";

const MAX_NAME = 90;
const MAX_VALUE = 500;
const MAX_MISSED = 300;
/** Fewer samples say little. */
const FEW = 25;

/** The answer of profile-code. */
export function profileAnswer(profile: Profile): ToolAnswer {
  const text = [
    heading(profile),
    ...valueLines(profile),
    ...comparisonLines(profile),
    ...tableLines(profile),
    ...pathLines(profile),
    ...remarks(profile),
  ].join("\n");
  return { blocks: [cutText(text)], isError: false, meta: { [PROFILE_META]: data(profile) } };
}

function heading(profile: Profile): string {
  const { mode, samples, cost, interval, looking } = profile;
  if (profile.counts !== undefined) return countsHeading(profile, profile.counts);
  const what = mode === "cpu" ? "Processor time" : "Allocation";
  const every = mode === "cpu" ? `, one each ${interval / 1000} ms of processor time` : ", one for each new region";
  return `${what}: ${countText(samples)} ${samples === 1 ? "sample" : "samples"}${every}. ${costText(cost)}. Switching on and off took ${timeText(looking)}.`;
}

function countsHeading(
  { samples, cost, looking }: Profile,
  { functions, called, looking: counting }: CountedCalls,
): string {
  const number = samples === 0 ? "No call" : samples === 1 ? "1 call" : `${countText(samples)} calls`;
  const what = functions === 1 ? "1 function" : `${countText(functions)} functions`;
  const idle = functions - called;
  const uncalled = idle > 0 && samples > 0 ? `; ${countText(idle)} ${idle === 1 ? "was" : "were"} not called` : "";
  const own = `Counting took about ${timeText(counting)} of it, and switching on and off ${timeText(looking)}.`;
  return `${number} of ${what}${uncalled}. ${costText(cost)}. ${own}`;
}

function costText({ real, run, gc, bytes }: Cost): string {
  const share = run === 0 ? "" : ` (${percentText(gc, run)})`;
  return `${timeText(real)} real, ${timeText(run)} processor, ${timeText(gc)} GC${share}, ${bytesText(bytes)} allocated`;
}

function valueLines({ values }: Profile): string[] {
  return values.map((value) => `=> ${oneLine(value, MAX_VALUE)}`);
}

function comparisonLines({ comparison }: Profile): string[] {
  if (comparison === undefined) return [];
  const { rounds, code, against } = comparison;
  return [
    `Without the profiler, medians of ${rounds} rounds in turn:`,
    `  code:    ${costText(code)}`,
    `  against: ${costText(against)}`,
    `  ${ratioText(code, against)}`,
  ];
}

function ratioText(code: Cost, against: Cost): string {
  if (code.real === 0 || against.real === 0) return "Too fast to compare: let both run longer.";
  const ratio = against.real / code.real;
  return ratio >= 1
    ? `code is ${ratio.toFixed(2)} times as fast as against.`
    : `against is ${(1 / ratio).toFixed(2)} times as fast as code.`;
}

function tableLines({ functions, samples, counts }: Profile): string[] {
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

function shares({ self, cumulative }: ProfiledFunction, samples: number): string[] {
  return [self, cumulative].map((count) => percentText(count, samples).padStart(6));
}

function countedFigures({ calls = 0, self, cumulative }: ProfiledFunction): string[] {
  return [countText(calls), timeText(self), timeText(cumulative)].map((text) => text.padStart(10));
}

function pathLines({ path, samples }: Profile): string[] {
  if (path.length === 0) return [];
  const steps = path.map(({ name, samples: count }) => `${oneLine(name, MAX_NAME)} ${percentText(count, samples)}`);
  return [`Hottest path: ${steps.join(" > ")}`];
}

function remarks({ end, samples, outside, elsewhere, full, replaced, counts }: Profile): string[] {
  const others = elsewhere.map(({ thread, samples: count }) => `${cutName(thread)} (${count})`).join(", ");
  return [
    ...(replaced ? ["The program started sb-sprof itself, which ended this profile: its samples are lost."] : []),
    ...(end === "stopped" ? ["The profile ended when the code stopped."] : []),
    ...(full ? ["The profile ended early, at its limit of samples."] : []),
    ...(outside > 0 ? [`${outside} ${outside === 1 ? "sample is" : "samples are"} in no such function.`] : []),
    ...(others === "" ? [] : [`Not counted: samples of other threads, ${others}.`]),
    ...(counts?.missed ?? []).map((text) => cutName(text, MAX_MISSED)),
    ...(samples < FEW && !replaced && counts === undefined
      ? ["So few samples say little: let the code run longer, in a loop."]
      : []),
  ];
}

function data({ functions, elsewhere, path, cost, comparison, counts, values, ...facts }: Profile): JsonObject {
  return {
    ...facts,
    values: [...values],
    cost: { ...cost },
    functions: functions.map((item) => ({ ...item })),
    elsewhere: elsewhere.map((item) => ({ ...item })),
    path: path.map((item) => ({ ...item })),
    counts: counts && { ...counts, missed: [...counts.missed] },
    comparison: comparison && {
      rounds: comparison.rounds,
      code: { ...comparison.code },
      against: { ...comparison.against },
    },
  };
}
