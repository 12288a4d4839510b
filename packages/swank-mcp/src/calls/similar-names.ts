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
  answer: NameNotFound | { readonly status: string },
): Promise<readonly string[]> {
  if (!("elsewhere" in answer) || answer.elsewhere.length > 0) return [];
  return namesNear(client, asked, answer.package);
}

/** Accessible symbols of a package whose names begin alike and are similar to `asked`, as code writes them. */
export async function namesNear(client: LispClient, asked: string, packageName: string): Promise<readonly string[]> {
  const name = asked.trim();
  const [beginning] = BEGINNING.exec(name) ?? [];
  if (beginning === undefined) return [];
  const candidates = await client.completions(beginning, packageName).catch(() => []);
  const others = candidates.filter((candidate) => candidate.toLowerCase() !== name.toLowerCase());
  return nearestOnes(name, others, MOST_SIMILAR);
}
