import type { ErrorSnapshot, FrameSummary } from "../image/lisp-port.js";
import { more } from "../text/cut.js";
import type { ToolGuide } from "../text/tool-guide.js";
import { frameLine, relevantFrames } from "./frames.js";

/** Most frames in a report (contract condition-report, "Backtrace Rules"). */
export const REPORT_FRAMES = 20;

/** Most frames that a snapshot keeps. */
export const KEPT_FRAMES = 200;

/** The frames that a report shows. */
export function reportFrames(error: ErrorSnapshot): readonly FrameSummary[] {
  return relevantFrames(error.frames).slice(0, REPORT_FRAMES);
}

/** The `[Backtrace]` section of a report: at most 20 of the relevant frames; `""` if there are no frames. */
export function reportBacktrace(error: ErrorSnapshot, guide: ToolGuide): string {
  const relevant = relevantFrames(error.frames);
  if (relevant.length === 0) return "";
  const left = relevant.length - REPORT_FRAMES;
  return section(reportFrames(error), left > 0 ? `${more(left, "frame")}${whereAll(guide)}` : "");
}

function whereAll(guide: ToolGuide): string {
  return guide.offers("get-backtrace") ? `: ${guide.nameOf("get-backtrace")}` : "";
}

/** The answer of get-backtrace: the first `max` frames, including Lisp's own, and the number of frames left out. */
export function fullBacktrace(error: ErrorSnapshot, max: number): string {
  if (error.frames.length === 0) return `${error.type} left no frames: there is no stack to show.`;
  const shown = error.frames.slice(0, max);
  return section(shown, leftOut(shown.length, error));
}

function section(frames: readonly FrameSummary[], ending: string): string {
  return ["[Backtrace]", ...frames.map(frameLine), ...(ending === "" ? [] : [ending])].join("\n");
}

function leftOut(shown: number, error: ErrorSnapshot): string {
  const left = error.totalFrames - shown;
  if (left <= 0) return "";
  const kept = error.frames.length;
  if (shown < kept) return `${more(left, "frame")}: max-frames up to ${kept} shows them`;
  return `${more(left, "frame")}${kept < KEPT_FRAMES ? ", of the evaluator and Swank" : ", not kept"}`;
}
