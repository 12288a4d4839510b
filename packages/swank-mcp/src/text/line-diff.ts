import { diffArrays } from "diff";

const CONTEXT = 2;

/** Most lines that are removed and added together; texts that differ more are shown as removed and added as a whole. */
const MAX_EDITS = 2000;

/**
 * The difference of two texts line by line, as in a unified diff: `-` for lines of the old text only, `+` for lines of the new one only,
 * `...` for unchanged lines that are left out. Empty if the texts have the same lines.
 */
export function lineDiff(before: string, after: string): string {
  const lines = markedLines(linesOf(before), linesOf(after));
  const isNear = (index: number) => lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(isChanged);
  const shown: string[] = [];
  for (const [index, line] of lines.entries()) {
    if (isNear(index)) shown.push(line.trimEnd());
    else if (shown.at(-1) !== "  ...") shown.push("  ...");
  }
  return lines.some(isChanged) ? shown.join("\n") : "";
}

function linesOf(text: string): string[] {
  return text.split("\n").map((line) => line.replace(/\r$/, ""));
}

function isChanged(line: string): boolean {
  return !line.startsWith(" ");
}

function markedLines(before: string[], after: string[]): string[] {
  const parts = diffArrays(before, after, { maxEditLength: MAX_EDITS });
  if (parts === undefined) return [...before.map((line) => `- ${line}`), ...after.map((line) => `+ ${line}`)];
  return parts.flatMap(({ value, added, removed }) =>
    value.map((line) => `${added ? "+" : removed ? "-" : " "} ${line}`),
  );
}
