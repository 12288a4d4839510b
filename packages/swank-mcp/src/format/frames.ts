import type { ErrorSnapshot, FrameSummary } from "../image/lisp-port.js";
import { cutCall } from "../text/cut.js";

/** Longest call that a backtrace shows whole, in characters. */
const MAX_CALL = 300;

/** A frame on one line, with its index. */
export function frameLine(frame: FrameSummary): string {
  return `${frame.index}: ${cutCall(frame.call, MAX_CALL)}`;
}

/**
 * The frames that a report shows: those of user code. If there are none, as when a form calls a Lisp function that fails, the frames of
 * Lisp's machinery; if there are none either, all frames. An error thus always has a backtrace.
 */
export function relevantFrames(frames: readonly FrameSummary[]): readonly FrameSummary[] {
  for (const kind of ["user", "system"] as const) {
    const chosen = frames.filter((frame) => frame.kind === kind);
    if (chosen.length > 0) return chosen;
  }
  return frames;
}

/** The innermost frame of user code. */
export function firstUserFrame(error: ErrorSnapshot): FrameSummary | undefined {
  return error.frames.find((frame) => frame.kind === "user");
}
