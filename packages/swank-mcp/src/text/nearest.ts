import { distance as editDistance } from "fastest-levenshtein";

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
