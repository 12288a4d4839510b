import type { PageFrame } from "../../src/page/model.js";

/** Frames of Lisp itself, and of the server, that one line stands for. */
export interface FrameFold {
  /** Index of the first of them. */
  readonly first: number;
  readonly count: number;
  /** Whether they are all that is below, also those that are not loaded. */
  readonly isBelow: boolean;
}

/** Fewest frames between others for which a line is worth its place. */
const FEWEST = 2;

/**
 * The frames as the list shows them: those that are no code of the person's are folded away, unless there are only such.
 *
 * @param total - The number of frames of the thread. All that follow one of the top level are of the top level, too.
 * @param isShown - Whether the fold that begins with this frame is open.
 */
export function foldedFrames(
  frames: readonly PageFrame[],
  total: number,
  isShown: (first: number) => boolean,
): readonly (PageFrame | FrameFold)[] {
  if (frames.every(({ kind }) => kind !== "user")) return frames;
  return runsOf(frames).flatMap((run): readonly (PageFrame | FrameFold)[] => {
    const [head] = run;
    if (head === undefined || head.kind === "user" || isShown(head.index)) return run;
    const isBelow = head.kind === "toplevel";
    const fold = { first: head.index, count: isBelow ? total - head.index : run.length, isBelow };
    return isBelow || run.length >= FEWEST ? [fold] : run;
  });
}

/** The frames in runs of one kind. */
function runsOf(frames: readonly PageFrame[]): readonly (readonly PageFrame[])[] {
  const runs: PageFrame[][] = [];
  for (const frame of frames) {
    const last = runs.at(-1);
    if (last?.[0]?.kind === frame.kind) last.push(frame);
    else runs.push([frame]);
  }
  return runs;
}
