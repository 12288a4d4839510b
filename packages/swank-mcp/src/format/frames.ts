import type { ErrorSnapshot, FrameSummary } from "../image/lisp-port.js";
import { cutCall, cutName, fileName } from "../text/cut.js";

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

/** The frames of user code, the innermost first. */
export function userFrames(error: ErrorSnapshot): readonly FrameSummary[] {
  return error.frames.filter((frame) => frame.kind === "user");
}

/** The sentence that says from which package a report prints symbols; none if the agent works in that package. */
export function packageLine({ printedFrom }: Pick<ErrorSnapshot, "printedFrom">): string[] {
  return printedFrom === undefined ? [] : [`Symbols are printed from package ${cutName(printedFrom)}.`];
}

/** The line that names the source lines of frames, as in `1 queue.lisp:12, 2 :40`; a file is not repeated. None if none is known. */
export function sourceLine(frames: readonly FrameSummary[]): string[] {
  let last: string | undefined;
  const places = frames.flatMap(({ index, place }) => {
    if (place === undefined) return [];
    const file = place.file === last ? "" : fileName(place.file);
    last = place.file;
    return [`${index} ${file}:${place.line}`];
  });
  return places.length === 0 ? [] : [`Source lines of frames: ${places.join(", ")}`];
}
