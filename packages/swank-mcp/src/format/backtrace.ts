import type { ErrorSnapshot, FrameSummary } from "../lisp-port.js";
import { more } from "./cut.js";
import { frameLine, relevantFrames } from "./frames.js";

/** Most frames in a report (contract condition-report, "Backtrace Rules"). */
export const REPORT_FRAMES = 20;

/** Most frames that a snapshot keeps. */
export const KEPT_FRAMES = 200;

/** The `[Backtrace]` section of a report: at most 20 of the frames that matter, `""` when there are none at all. */
export function reportBacktrace(error: ErrorSnapshot): string {
  const relevant = relevantFrames(error.frames);
  if (relevant.length === 0) return "";
  const left = relevant.length - REPORT_FRAMES;
  return section(relevant.slice(0, REPORT_FRAMES), left > 0 ? `${more(left, "frame")}: get-backtrace` : "");
}

/** What get-backtrace answers: the first `max` frames of the stack, Lisp's own included, and how many there are besides. */
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
