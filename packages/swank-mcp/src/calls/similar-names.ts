import type { LispClient, NameNotFound } from "../image/lisp-port.js";
import { nearestOnes } from "../text/nearest.js";

/** The package and the first two letters of a name: people rarely misspell these. */
const BEGINNING = /^(?:[^\s:|\\]*::?)?[^\s:|\\]{2}/;
const MOST_SIMILAR = 5;

/**
 * Accessible symbols whose names begin alike and are similar, as code writes them, if the image knows no symbol of that name.
 *
 * @param asked - The name that the caller gave.
 */
export async function similarNames(
  client: LispClient,
  asked: string,
  answer: NameNotFound | { readonly status: "found" | "no-such-method" },
): Promise<readonly string[]> {
  if (answer.status !== "symbol-not-found" || answer.elsewhere.length > 0) return [];
  const name = asked.trim();
  const [beginning] = BEGINNING.exec(name) ?? [];
  if (beginning === undefined) return [];
  const candidates = await client.completions(beginning, answer.package).catch(() => []);
  return nearestOnes(name, candidates, MOST_SIMILAR);
}
