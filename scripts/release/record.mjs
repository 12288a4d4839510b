import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";

/** The file beside the packed files that says what was tried. */
const RECORD = "tried.json";

/** A file's digest, as npm's registry writes it. @param {string} path */
async function integrity(path) {
  return `sha512-${createHash("sha512")
    .update(await readFile(path))
    .digest("base64")}`;
}

/**
 * Notes that files were tried.
 *
 * @param {string} folder of the files
 * @param {string | undefined} commit that they were made from; `undefined` if it is none
 * @param {readonly string[]} paths
 */
export async function writeRecord(folder, commit, paths) {
  const entries = paths.map(async (path) => [basename(path), await integrity(path)]);
  const record = { commit, files: Object.fromEntries(await Promise.all(entries)) };
  await writeFile(join(folder, RECORD), `${JSON.stringify(record, undefined, 2)}\n`);
}

/**
 * Says why files are not those that were tried.
 *
 * @param {string} folder
 * @param {string} commit that is to be released
 * @param {readonly string[]} names
 * @returns {Promise<{ problems: string[], digests: Record<string, string> }>} a sentence for each problem, and the digests by name
 */
export async function readRecord(folder, commit, names) {
  const text = await readFile(join(folder, RECORD), "utf8").catch(() => undefined);
  if (text === undefined)
    return { problems: ["Nothing was tried yet: npm run release -- --dry-run does that."], digests: {} };
  /** @type {{ commit?: string, files: Record<string, string> }} */
  const { commit: tried, files } = JSON.parse(text);
  const problems =
    tried === commit
      ? []
      : [`What was tried is ${tried ? `of the commit ${tried}` : "of no commit"}, not of ${commit}.`];
  for (const name of names) {
    const found = await integrity(join(folder, name)).catch(() => undefined);
    if (found === undefined || found !== files[name]) problems.push(`${name} is not the file that was tried.`);
  }
  return { problems, digests: files };
}
