import { chmod, lstat, readdir, rename, utimes } from "node:fs/promises";
import { join } from "node:path";
import { makeDraft, removeAbandoned, removeQuietly } from "../cache/drafts.js";
import { treeProblem } from "../cache/own-file.js";
import { ownSubfolder } from "../cache/own-folder.js";
import { removeUnused } from "../cache/remove-unused.js";

/** The folder of compiled Swanks in the cache folder. */
const FOLDER = "fasl";

/** Number of compiled Swanks to keep. The least recently used are removed. */
const KEPT = 2;

/** The compiled files of a Swank that is loaded without a core. */
export interface CompiledSwank {
  /** The folder. `undefined`: there is none, so Swank is loaded without compiling it to files. */
  readonly folder: string | undefined;
  /** True if an earlier image compiled Swank into it. */
  readonly isKept: boolean;
  /** Makes the compiled files available to later images. Never rejects, because the image that compiled them already runs. */
  publish(): Promise<void>;
  /** Removes the compiled files, but not files that were published since. Never rejects. */
  discard(): Promise<void>;
}

const doNothing = async () => undefined;

const NOWHERE: CompiledSwank = { folder: undefined, isKept: false, publish: doNothing, discard: doNothing };

/**
 * Finds or makes a folder for compiled files in the cache folder.
 * Only one image writes into it, and then it never changes, so that no image loads a file that another one is writing.
 *
 * @param key - Identifies the sources and the compiler.
 * @param notes - Notes for the user are added here.
 */
export async function compiledSwank(
  cacheFolder: string | undefined,
  key: string,
  notes: string[],
): Promise<CompiledSwank> {
  const parent = cacheFolder === undefined ? undefined : await ownSubfolder(cacheFolder, FOLDER);
  if (parent === undefined) return NOWHERE;
  await removeAbandoned(parent);
  const folder = join(parent, key);
  if (await isUsable(folder, notes)) {
    return { folder, isKept: true, publish: doNothing, discard: () => removeQuietly(folder) };
  }
  return draft(parent, key).catch(() => NOWHERE);
}

/** Whether an earlier image has compiled this Swank. The files may nevertheless be unusable. */
export function isSwankCompiled(cacheFolder: string | undefined, key: string): Promise<boolean> {
  if (cacheFolder === undefined) return Promise.resolve(false);
  return lstat(join(cacheFolder, FOLDER, key)).then(
    () => true,
    () => false,
  );
}

/** True if the folder exists and only this user can have written it. Otherwise it is removed. */
async function isUsable(folder: string, notes: string[]): Promise<boolean> {
  if ((await lstat(folder).catch(() => undefined)) === undefined) return false;
  const problem = await treeProblem(folder).catch(() => "cannot be read");
  if (problem === undefined) {
    const now = new Date();
    await utimes(folder, now, now).catch(() => undefined);
    return true;
  }
  notes.push(`The compiled files in ${folder} were not used and are rebuilt: it ${problem}.`);
  await removeQuietly(folder);
  return false;
}

async function draft(parent: string, key: string): Promise<CompiledSwank> {
  const path = await makeDraft(parent, key);
  const discard = () => removeQuietly(path);
  const publish = async () => {
    // Another process may have published the same files first.
    await share(path, join(parent, key)).catch(discard);
    await prune(parent).catch(() => undefined);
  };
  return { folder: path, isKept: false, publish, discard };
}

async function share(path: string, folder: string): Promise<void> {
  const names = await readdir(path, { recursive: true, withFileTypes: true });
  // The user's umask may make them writable for a group.
  await Promise.all(
    names.map((entry) => chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o700 : 0o600)),
  );
  await rename(path, folder);
}

/** Removes published folders only. Images may be compiling into the others. */
async function prune(parent: string): Promise<void> {
  const names = (await readdir(parent)).filter((name) => /^[0-9a-f]+$/.test(name));
  await removeUnused(parent, names, KEPT);
}
