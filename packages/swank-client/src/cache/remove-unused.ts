import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { removeQuietly } from "./drafts.js";

/** Milliseconds for which a file is always kept after its last use: another process may be about to read it. */
const GRACE = 600_000;

/** The name of the most recently used of these files or folders. Never rejects. */
export async function latestOf(parent: string, names: readonly string[]): Promise<string | undefined> {
  const times = await Promise.all(names.map((name) => timeOf(parent, name)));
  return names[times.indexOf(Math.max(...times))];
}

/** Removes files or folders that have not been used for some time, except the most recently used. Never rejects. */
export async function removeUnused(parent: string, names: readonly string[], kept: number): Promise<void> {
  const dated = await Promise.all(
    names.map(async (name) => ({ path: join(parent, name), time: await timeOf(parent, name) })),
  );
  const unused = dated.sort((a, b) => b.time - a.time).slice(kept);
  const old = unused.filter(({ time }) => time < Date.now() - GRACE);
  await Promise.all(old.map(({ path }) => removeQuietly(path)));
}

/** 0 for a file that another process has just removed. */
async function timeOf(parent: string, name: string): Promise<number> {
  return lstat(join(parent, name)).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
