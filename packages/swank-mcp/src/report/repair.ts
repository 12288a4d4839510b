import { rebalanced } from "swank-client";
import { lineDiff } from "../text/line-diff.js";

/** Most lines of a proposal that is shown, and the longest. */
const MAX_LINES = 40;

const MAX_WIDTH = 300;

/** The repair that the indentation of unbalanced code proposes, as a diff; empty if there is none. It is never applied. */
export function repairLines(code: string): string[] {
  const mended = rebalanced(code);
  if (mended === undefined) return [];
  const diff = lineDiff(code, mended).split("\n");
  if (diff.length > MAX_LINES || diff.some((line) => line.length > MAX_WIDTH)) return [];
  return ["By its indentation, the code may mean (not applied):", ...diff];
}
