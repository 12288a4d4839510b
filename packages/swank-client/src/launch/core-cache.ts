import { futimesSync } from "node:fs";
import { chmod, lstat, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { attempted } from "../base/attempted.js";
import { makeDraft, removeAbandoned, removeQuietly } from "../cache/drafts.js";
import { useOwnFile } from "../cache/own-file.js";
import { removeUnused } from "../cache/remove-unused.js";

/** Number of cores to keep. The least recently used are removed. */
const KEPT_CORES = 3;

/** A core in the cache. */
export interface KeptCore {
  readonly path: string;
  /** Identifies the file at the time of the lookup. Another process may replace it. */
  readonly inode: number;
}

/** The cores in a cache folder, by key. */
export class CoreCache {
  readonly #folder: string;
  readonly #notes: string[];

  /**
   * @param folder - An existing folder that only this user can write.
   * @param notes - Notes for the user are added here.
   */
  constructor(folder: string, notes: string[]) {
    this.#folder = folder;
    this.#notes = notes;
  }

  /** The lock file that exists while the core of a key is being built. */
  lockFile(key: string): string {
    return join(this.#folder, `${key}.lock`);
  }

  /** Makes a folder for this process to build the core of a key in. */
  makeDraft(key: string): Promise<string> {
    return makeDraft(this.#folder, key);
  }

  /** Looks up the core of a key and updates its time of use. A core that another user may have written is removed: a core is a program. */
  async find(key: string): Promise<KeptCore | undefined> {
    const path = this.#path(key);
    const found = await useOwnFile(path, (file, { ino: inode }) => {
      const now = new Date();
      attempted(() => futimesSync(file, now, now));
      return { path, inode };
    });
    if (found === undefined || "value" in found) return found?.value;
    this.#notes.push(`The core ${path} was not used and is rebuilt: it ${found.problem}.`);
    await removeQuietly(path);
    return undefined;
  }

  /** Stores a finished core under its key, replacing any other, and removes files that are no longer needed. */
  async adopt(file: string, key: string): Promise<KeptCore> {
    const path = this.#path(key);
    await chmod(file, 0o600);
    const { ino: inode } = await lstat(file);
    await rename(file, path);
    await this.#prune();
    return { path, inode };
  }

  /** Removes a core unless another one has replaced it. */
  async remove({ path, inode }: KeptCore): Promise<void> {
    const file = await lstat(path).catch(() => undefined);
    if (file?.ino === inode) await removeQuietly(path);
  }

  /** Removes files that killed processes left. Never rejects. */
  tidy(): Promise<void> {
    return removeAbandoned(this.#folder);
  }

  #path(key: string): string {
    return join(this.#folder, `${key}.core`);
  }

  async #prune(): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith(".core"));
    // A core that an image runs from can be removed: the image keeps the mapped file.
    await removeUnused(this.#folder, names, KEPT_CORES);
    // Again, because the Lisp of a killed process may have been writing during the first time.
    await this.tidy();
  }
}
