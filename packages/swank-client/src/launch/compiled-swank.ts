import { chmod, lstat, readdir, rename, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { asSwankError } from "../base/errors.js";
import { makeDraft, removeAbandoned, removeQuietly } from "../cache/drafts.js";
import { treeProblem } from "../cache/own-file.js";
import { ownSubfolder } from "../cache/own-folder.js";
import { removeUnused } from "../cache/remove-unused.js";
import { swankKey } from "./core-key.js";
import type { LaunchPlan } from "./launch-plan.js";

/** The folder of compiled Swanks in the cache folder. */
const FOLDER = "fasl";

/** Number of compiled Swanks to keep. The least recently used are removed. */
const KEPT = 2;

/** The compiled files of a Swank that are being made. */
interface FreshFiles {
  /** `undefined`: there is no folder for them, so Swank is loaded without compiling it to files. */
  readonly folder: string | undefined;
  /** Makes them available to later images, in place of damaged ones. Never rejects, because the Lisp that compiled them already runs. */
  publish(): Promise<void>;
  /** Removes them. Never rejects. */
  discard(): Promise<void>;
}

const doNothing = async () => undefined;

const NOWHERE: FreshFiles = { folder: undefined, publish: doNothing, discard: doNothing };

/**
 * Loads Swank from compiled files in the cache folder. If there are none, or if it cannot be loaded from them, it is compiled into a new folder.
 * Only one Lisp writes into a folder, and then it never changes, so that no Lisp loads a file that another one is writing.
 *
 * @param load - Loads Swank from a folder, and compiles it there if it is empty. `undefined`: no file can be kept.
 * @throws the error of `load`
 */
export async function withCompiledSwank<Result>(
  { ingredients, cacheFolder, notes }: Pick<LaunchPlan, "ingredients" | "cacheFolder" | "notes">,
  load: (folder: string | undefined) => Promise<Result>,
): Promise<Result> {
  const parent = cacheFolder === undefined ? undefined : await ownSubfolder(cacheFolder, FOLDER);
  if (parent === undefined) return load(undefined);
  await removeAbandoned(parent);
  const kept = join(parent, swankKey(ingredients));
  const wasKept = await isUsable(kept, notes);
  if (wasKept) {
    try {
      return await load(kept);
    } catch (error) {
      if (asSwankError(error).code === "CANCELLED") throw error;
    }
  }
  const fresh = await freshFiles(parent, kept, wasKept).catch(() => NOWHERE);
  try {
    const result = await load(fresh.folder);
    await fresh.publish();
    return result;
  } catch (error) {
    const isFull = fresh.folder !== undefined && !(await hasSpace(fresh.folder));
    await fresh.discard();
    if (!isFull || asSwankError(error).code === "CANCELLED") throw error;
    notes.push(`Swank's compiled files cannot be kept: ${parent} is full or cannot be written.`);
    return load(undefined);
  }
}

/** Bytes that the compiled files of a Swank may take. */
const COMPILED_SIZE = 4_000_000;

/** True if a folder has space for the compiled files of a Swank. */
async function hasSpace(folder: string): Promise<boolean> {
  const file = join(folder, "space");
  try {
    await writeFile(file, Buffer.alloc(COMPILED_SIZE));
    return true;
  } catch {
    return false;
  } finally {
    await removeQuietly(file);
  }
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

async function freshFiles(parent: string, kept: string, areKeptDamaged: boolean): Promise<FreshFiles> {
  const folder = await makeDraft(parent, basename(kept));
  const discard = () => removeQuietly(folder);
  const publish = async () => {
    if (areKeptDamaged) await removeQuietly(kept);
    // Another process may have published the same files in between.
    await share(folder, kept).catch(discard);
    await prune(parent).catch(() => undefined);
  };
  return { folder, publish, discard };
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
