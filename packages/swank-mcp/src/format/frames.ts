import type { ErrorSnapshot, FrameSummary } from "../lisp-port.js";
import { cutCall } from "./cut.js";

/** Longest call that a backtrace shows whole, in characters. */
const MAX_CALL = 300;

/** A frame with the number by which every tool knows it. */
export function frameLine(frame: FrameSummary): string {
  return `${frame.index}: ${cutCall(frame.call, MAX_CALL)}`;
}

/**
 * The frames that a report is about: the user's own. Where there are none, as in a form that fails by itself, those of Lisp above it,
 * and failing those all there are: an error never shows without the place it came from.
 */
export function relevantFrames(frames: readonly FrameSummary[]): readonly FrameSummary[] {
  for (const kind of ["user", "machinery"] as const) {
    const chosen = frames.filter((frame) => frame.kind === kind);
    if (chosen.length > 0) return chosen;
  }
  return frames;
}

/** The frame at which a person would start to look. */
export function firstUserFrame(error: ErrorSnapshot): FrameSummary | undefined {
  return error.frames.find((frame) => frame.kind === "user");
}
