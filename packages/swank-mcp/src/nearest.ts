/** @returns the candidate that `text` is most likely a slip of, if one is near enough. */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  const limit = Math.max(2, Math.floor(text.length / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    // At least as many insertions as the lengths differ by; this also bounds the time for long texts.
    if (Math.abs(text.length - candidate.length) > limit) continue;
    const distance = editDistance(text.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Least number of insertions, deletions and replacements that turn one text into the other. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = at(previous, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(at(previous, column) + 1, at(current, column - 1) + 1, replaced));
    }
    previous = current;
  }
  return at(previous, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
