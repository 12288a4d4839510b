import type { ErrorSnapshot, Restart } from "../image/lisp-port.js";
import { cutName, cutText } from "../text/cut.js";
import { EVERY_TOOL, type ToolGuide } from "../text/tool-guide.js";
import { frameLine, relevantFrames } from "./frames.js";
import { restartLines } from "./restarts.js";

/** The answer of describe-last-error and get-backtrace when there is no last error (contract describe-last-error-tool). */
export const NO_ERROR = "No error information available.\n(No error has occurred since the last successful evaluation)";

/** Most frames in describe-last-error. */
const PREVIEW_FRAMES = 5;

/** The answer of describe-last-error (contract describe-last-error-tool, "Output Format"). */
export function lastErrorText(error: ErrorSnapshot, guide: ToolGuide = EVERY_TOOL): string {
  return [heading(error), restartSection(error.restarts), ...previewSections(error, guide)].join("\n\n");
}

function heading(error: ErrorSnapshot): string {
  const message = cutText(error.message);
  return [`Error: ${cutName(error.type)}`, ...message.split("\n").map(indented)].join("\n");
}

function indented(line: string): string {
  return line === "" ? "" : `  ${line}`;
}

function restartSection(restarts: readonly Restart[]): string {
  return ["Available Restarts:", ...(restarts.length === 0 ? ["  none"] : restartLines(restarts))].join("\n");
}

function previewSections(error: ErrorSnapshot, guide: ToolGuide): string[] {
  const frames = relevantFrames(error.frames).slice(0, PREVIEW_FRAMES);
  if (frames.length === 0) return [];
  const lines = frames.map((frame) => `  ${frameLine(frame)}`);
  return [
    [`Backtrace (top ${PREVIEW_FRAMES} frames):`, ...lines].join("\n"),
    ...(guide.offers("get-backtrace") ? [guide.advise("For full backtrace, use get-backtrace tool.")] : []),
  ];
}
