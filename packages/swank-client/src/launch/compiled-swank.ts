import { chmod, lstat, readdir, rename, utimes } from "node:fs/promises";
import { join } from "node:path";
import { removeUnused } from "./core-cache.js";
import { makeDraft, removeAbandoned, removeQuietly } from "./drafts.js";
import { treeDistrust } from "./own-file.js";
import { ownSubfolder } from "./own-folder.js";

/** Compiled Swanks that are kept, the last used ones. */
const KEPT = 2;

/** Where the compiled files of a Swank that is loaded without a core are. */
export interface CompiledSwank {
  /** `undefined`: nowhere; it must be loaded without compiling it to files. */
  readonly folder: string | undefined;
  /** Whether an earlier image has compiled it. */
  readonly isKept: boolean;
  /** Lets later images use what was compiled. Never rejects: the image that compiled it is up. */
  publish(): Promise<void>;
  /** Removes what was compiled, by this image or an earlier one. Nothing that was published by now. Never rejects. */
  discard(): Promise<void>;
}

const doNothing = async () => undefined;

const NOWHERE: CompiledSwank = { folder: undefined, isKept: false, publish: doNothing, discard: doNothing };

/**
 * Finds or makes a folder for compiled files in the cache folder.
 * It is filled by one image only, and then never changed, so that no image loads a file that another one is writing.
 *
 * @param key - Of what the files are compiled from, and with what.
 * @param notes - For the user, added to.
 */
export async function compiledSwank(
  cacheFolder: string | undefined,
  key: string,
  notes: string[],
): Promise<CompiledSwank> {
  const parent = cacheFolder === undefined ? undefined : await ownSubfolder(cacheFolder, "fasl");
  if (parent === undefined) return NOWHERE;
  await removeAbandoned(parent);
  const folder = join(parent, key);
  if (await isUsable(folder, notes)) {
    return { folder, isKept: true, publish: doNothing, discard: () => removeQuietly(folder) };
  }
  return draft(parent, key).catch(() => NOWHERE);
}

/** Whether it is there, and only this user can have compiled what is in it; otherwise it is removed. */
async function isUsable(folder: string, notes: string[]): Promise<boolean> {
  if ((await lstat(folder).catch(() => undefined)) === undefined) return false;
  const distrust = await treeDistrust(folder).catch(() => "cannot be read");
  if (distrust === undefined) {
    const now = new Date();
    await utimes(folder, now, now).catch(() => undefined);
    return true;
  }
  notes.push(`The compiled files in ${folder} were not used, and are made anew: it ${distrust}.`);
  await removeQuietly(folder);
  return false;
}

async function draft(parent: string, key: string): Promise<CompiledSwank> {
  const path = await makeDraft(parent, key);
  const discard = () => removeQuietly(path);
  const publish = async () => {
    // Another process may have published the same; one is enough.
    await share(path, join(parent, key)).catch(discard);
    await prune(parent).catch(() => undefined);
  };
  return { folder: path, isKept: false, publish, discard };
}

async function share(path: string, folder: string): Promise<void> {
  const names = await readdir(path, { recursive: true, withFileTypes: true });
  // The user's umask may let a group write them.
  await Promise.all(
    names.map((entry) => chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o700 : 0o600)),
  );
  await rename(path, folder);
}

/** Only what was published: the other folders are those that images are compiling into. */
async function prune(parent: string): Promise<void> {
  const names = (await readdir(parent)).filter((name) => /^[0-9a-f]+$/.test(name));
  await removeUnused(parent, names, KEPT);
}
