import { lstat, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ownSubfolder } from "../cache/own-folder.js";
import { removeUnused } from "../cache/remove-unused.js";

/** The folder, in the cache folder, with an empty file for each core whose building in the background has begun. */
const FOLDER = "begun";

/** Number of files to keep, as of cores. */
const KEPT = 3;

/**
 * Whether an earlier launch has begun to build this core in the background. If the core does not exist, that image ended too early, and
 * the next one may, too.
 */
export function hasBegun(cacheFolder: string, key: string): Promise<boolean> {
  return lstat(join(cacheFolder, FOLDER, key)).then(
    () => true,
    () => false,
  );
}

/** Records that the building begins. Never rejects: without the record, the next launch builds in the background, too. */
export async function recordBegun(cacheFolder: string, key: string): Promise<void> {
  const folder = await ownSubfolder(cacheFolder, FOLDER);
  if (folder === undefined) return;
  await writeFile(join(folder, key), "", { flag: "wx", mode: 0o600 }).catch(() => undefined);
  await removeUnused(folder, await readdir(folder).catch(() => []), KEPT);
}
