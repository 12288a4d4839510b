import { distance as editDistance } from "fastest-levenshtein";

/** @returns the candidates that differ from `text` by a slip, in one or two characters, the nearest first; at most `most`. */
export function nearestOnes(text: string, candidates: readonly string[], most: number): readonly string[] {
  const limit = text.length > 3 ? 2 : 1;
  return candidates
    .filter((candidate) => Math.abs(text.length - candidate.length) <= limit)
    .map((candidate) => ({
      candidate,
      distance: editDistance(text.toLowerCase(), candidate.toLowerCase()),
      difference: Math.abs(text.length - candidate.length),
    }))
    .filter(({ distance }) => distance <= limit)
    .sort((one, other) => one.distance - other.distance || one.difference - other.difference)
    .slice(0, most)
    .map(({ candidate }) => candidate);
}

/** @returns the candidate that `text` most likely misspells; `undefined` when none is near enough. */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  const limit = Math.max(2, Math.floor(text.length / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    // The distance is at least the difference of the lengths. This check also bounds the time for long texts.
    if (Math.abs(text.length - candidate.length) > limit) continue;
    const distance = editDistance(text.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}
