import type { Cost, Profile } from "../image/lisp-port.js";
import { cutName, cutText, fileName, oneLine } from "../text/cut.js";
import type { JsonObject, ToolAnswer } from "../text/tool-answer.js";
import { bytesText, countText, percentText, timeText } from "./quantities.js";

/** Key of a result's `_meta` under which programs find the profile as data. */
const PROFILE_META = "swank-mcp/profile";

const MAX_NAME = 90;
const MAX_VALUE = 500;
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

function heading({ mode, samples, cost, interval, looking }: Profile): string {
  const what = mode === "cpu" ? "Processor time" : "Allocation";
  const every = mode === "cpu" ? `, one each ${interval / 1000} ms of processor time` : ", one for each new region";
  return `${what}: ${countText(samples)} ${samples === 1 ? "sample" : "samples"}${every}. ${costText(cost)}. Switching on and off took ${timeText(looking)}.`;
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

function tableLines({ functions, samples }: Profile): string[] {
  if (functions.length === 0) return [];
  const rows = functions.map(({ name, self, cumulative, file, line }) => {
    const place = file === undefined ? "" : `  ${fileName(file)}:${line}`;
    const shares = [percentText(self, samples).padStart(6), percentText(cumulative, samples).padStart(6)].join("  ");
    return `${shares}  ${oneLine(name, MAX_NAME)}${place}`;
  });
  return ["  self  cumul.  function", ...rows];
}

function pathLines({ path, samples }: Profile): string[] {
  if (path.length === 0) return [];
  const steps = path.map(({ name, samples: count }) => `${oneLine(name, MAX_NAME)} ${percentText(count, samples)}`);
  return [`Hottest path: ${steps.join(" > ")}`];
}

function remarks({ end, samples, outside, elsewhere, full, replaced }: Profile): string[] {
  const others = elsewhere.map(({ thread, samples: count }) => `${cutName(thread)} (${count})`).join(", ");
  return [
    ...(replaced ? ["The program started sb-sprof itself, which ended this profile: its samples are lost."] : []),
    ...(end === "stopped" ? ["The profile ended when the code stopped."] : []),
    ...(full ? ["The profile ended early, at its limit of samples."] : []),
    ...(outside > 0 ? [`${outside} samples are in no such function.`] : []),
    ...(others === "" ? [] : [`Not counted: samples of other threads, ${others}.`]),
    ...(samples < FEW && !replaced ? ["So few samples say little: let the code run longer, in a loop."] : []),
  ];
}

function data({ functions, elsewhere, path, cost, comparison, values, ...facts }: Profile): JsonObject {
  return {
    ...facts,
    values: [...values],
    cost: { ...cost },
    functions: functions.map((item) => ({ ...item })),
    elsewhere: elsewhere.map((item) => ({ ...item })),
    path: path.map((item) => ({ ...item })),
    comparison: comparison && {
      rounds: comparison.rounds,
      code: { ...comparison.code },
      against: { ...comparison.against },
    },
  };
}
