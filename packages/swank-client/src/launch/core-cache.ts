import { chmod, lstat, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { makeDraft, removeAbandoned, removeQuietly } from "./drafts.js";
import { useOwnFile } from "./own-file.js";

/** Cores that are kept, the last used ones. */
const KEPT_CORES = 3;

/** Milliseconds that a core is kept after its last use in any case: another process may be starting from it. */
export const GRACE = 600_000;

/** A core that is in the cache. */
export interface KeptCore {
  readonly path: string;
  /** Which file that was when it was looked up: another process may put a new one there. */
  readonly inode: number;
}

/** The cores in a cache folder, by key. */
export class CoreCache {
  readonly #folder: string;
  readonly #notes: string[];

  /**
   * @param folder - It exists, and only this user can write it.
   * @param notes - For the user, added to.
   */
  constructor(folder: string, notes: string[]) {
    this.#folder = folder;
    this.#notes = notes;
  }

  /** What is there while the core of a key is being built. */
  lockFile(key: string): string {
    return join(this.#folder, `${key}.lock`);
  }

  /** Makes a folder of this process's own to build the core of a key in. */
  makeDraft(key: string): Promise<string> {
    return makeDraft(this.#folder, key);
  }

  /** Looks up the core of a key, and notes that it is used. One that another user may have put there is removed: a core is a program. */
  async find(key: string): Promise<KeptCore | undefined> {
    const path = this.#path(key);
    const found = await useOwnFile(path, async (file, { ino: inode }) => {
      const now = new Date();
      await file.utimes(now, now).catch(() => undefined);
      return { path, inode };
    });
    if (found === undefined || "value" in found) return found?.value;
    this.#notes.push(`The core ${path} was not used, and is made anew: it ${found.distrust}.`);
    await removeQuietly(path);
    return undefined;
  }

  /** Makes a finished core the one of its key, whether or not there is one, and removes what is not needed any more. */
  async adopt(file: string, key: string): Promise<KeptCore> {
    const path = this.#path(key);
    await chmod(file, 0o600);
    const { ino: inode } = await lstat(file);
    await rename(file, path);
    await this.#prune();
    return { path, inode };
  }

  /** Removes a core, unless there is another one in its place by now. */
  async remove({ path, inode }: KeptCore): Promise<void> {
    const file = await lstat(path).catch(() => undefined);
    if (file?.ino === inode) await removeQuietly(path);
  }

  /** Removes what processes that were killed have left. Never rejects. */
  tidy(): Promise<void> {
    return removeAbandoned(this.#folder);
  }

  #path(key: string): string {
    return join(this.#folder, `${key}.core`);
  }

  async #prune(): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith(".core"));
    // A core that an image runs from can be removed: the image keeps what it has mapped.
    await removeUnused(this.#folder, names, KEPT_CORES);
    // Once more: the Lisp of a process that was killed may still have been writing when this one began.
    await this.tidy();
  }
}

/** Removes files or folders that have not been used for some time, except for the last used ones. Never rejects. */
export async function removeUnused(parent: string, names: readonly string[], kept: number): Promise<void> {
  const dated = await Promise.all(
    names.map(async (name) => ({ path: join(parent, name), time: await timeOf(parent, name) })),
  );
  const unused = dated.sort((a, b) => b.time - a.time).slice(kept);
  const old = unused.filter(({ time }) => time < Date.now() - GRACE);
  await Promise.all(old.map(({ path }) => removeQuietly(path)));
}

/** 0 for what another process has just removed. */
async function timeOf(parent: string, name: string): Promise<number> {
  return lstat(join(parent, name)).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
