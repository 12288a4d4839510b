/** Most pairs of lines that are compared; larger texts are shown as removed and added as a whole. */
const MAX_PAIRS = 1_000_000;

/** Unchanged lines shown before and after changed ones. */
const CONTEXT = 2;

/**
 * The difference of two texts line by line, as in a unified diff: `-` for lines of the old text only, `+` for lines of the new one only,
 * `...` for unchanged lines that are left out. Empty if the texts have the same lines.
 */
export function lineDiff(before: string, after: string): string {
  const lines = marked(linesOf(before), linesOf(after));
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

/** All lines with their marks. */
function marked(before: readonly string[], after: readonly string[]): string[] {
  const start = commonStart(before, after);
  const [oldRest, newRest] = [before.slice(start), after.slice(start)];
  const end = commonStart(oldRest.toReversed(), newRest.toReversed());
  return [
    ...before.slice(0, start).map((line) => `  ${line}`),
    ...markedMiddle(oldRest.slice(0, oldRest.length - end), newRest.slice(0, newRest.length - end)),
    ...oldRest.slice(oldRest.length - end).map((line) => `  ${line}`),
  ];
}

function commonStart(one: readonly string[], other: readonly string[]): number {
  const index = one.findIndex((line, at) => line !== other[at]);
  return index === -1 ? Math.min(one.length, other.length) : index;
}

/** Lines that differ at both ends, with their marks, by the longest common subsequence. */
function markedMiddle(before: readonly string[], after: readonly string[]): string[] {
  const isSmall = before.length * after.length <= MAX_PAIRS;
  const lengths = isSmall ? commonLengths(before, after) : [];
  const common = (row: number, column: number) => lengths[row]?.[column] ?? 0;
  const lines: string[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const [old, fresh] = [before[row], after[column]];
    if (isSmall && old !== undefined && old === fresh) {
      lines.push(`  ${old}`);
      row += 1;
      column += 1;
    } else if (old !== undefined && (fresh === undefined || common(row + 1, column) >= common(row, column + 1))) {
      lines.push(`- ${old}`);
      row += 1;
    } else {
      lines.push(`+ ${fresh ?? ""}`);
      column += 1;
    }
  }
  return lines;
}

/** The length of the longest common subsequence of the lines from each pair of positions on. */
function commonLengths(before: readonly string[], after: readonly string[]): number[][] {
  const table: number[][] = [new Array<number>(after.length + 1).fill(0)];
  for (const line of before.toReversed()) {
    const below = table[0] ?? [];
    const row = new Array<number>(after.length + 1).fill(0);
    for (let column = after.length - 1; column >= 0; column -= 1) {
      row[column] =
        line === after[column] ? (below[column + 1] ?? 0) + 1 : Math.max(below[column] ?? 0, row[column + 1] ?? 0);
    }
    table.unshift(row);
  }
  return table;
}
