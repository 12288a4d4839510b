import { readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";

/** Cores that are kept, the last used ones. */
const KEPT_CORES = 3;

/** Milliseconds after which what somebody has been building is not being built any more. */
const ABANDONED = 3_600_000;

/** A core that is in the cache. */
export interface KeptCore {
  readonly path: string;
  /** Which file that was when it was looked up: another process may put a new one there. */
  readonly inode: number;
}

/** The cores in a cache folder, by key. */
export class CoreCache {
  readonly #folder: string;

  /** @param folder - It exists. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** What is there while the core of a key is being built. */
  lockFile(key: string): string {
    return join(this.#folder, `${key}.lock`);
  }

  /** A path of this process's own to build the core of a key at. */
  draftPath(key: string): string {
    return join(this.#folder, `${key}.${process.pid}-${Math.random().toString(36).slice(2, 10)}.draft`);
  }

  /** Looks up the core of a key, and notes that it is used. */
  async find(key: string): Promise<KeptCore | undefined> {
    const path = this.#path(key);
    const now = new Date();
    await utimes(path, now, now).catch(() => undefined);
    const file = await stat(path).catch(() => undefined);
    return file === undefined ? undefined : { path, inode: file.ino };
  }

  /** Makes a finished draft the core of its key, whether or not there is one, and removes cores that have not been used for long. */
  async adopt(draft: string, key: string): Promise<KeptCore> {
    const path = this.#path(key);
    const { ino: inode } = await stat(draft);
    await rename(draft, path);
    await this.#prune();
    return { path, inode };
  }

  /** Removes a draft that has not been adopted. */
  async discard(draft: string): Promise<void> {
    await rm(draft, { force: true });
  }

  /** Removes a core, unless there is another one in its place by now. */
  async remove({ path, inode }: KeptCore): Promise<void> {
    const file = await stat(path).catch(() => undefined);
    if (file?.ino === inode) await rm(path, { force: true, recursive: true });
  }

  #path(key: string): string {
    return join(this.#folder, `${key}.core`);
  }

  async #prune(): Promise<void> {
    const names = await readdir(this.#folder);
    const dated = await Promise.all(names.map(async (name) => ({ name, time: await this.#time(name) })));
    const cores = dated.filter(({ name }) => name.endsWith(".core")).sort((a, b) => b.time - a.time);
    const abandoned = dated.filter(({ name, time }) => name.endsWith(".draft") && time < Date.now() - ABANDONED);
    // A core that an image runs from can be removed: the image keeps what it has mapped.
    const superfluous = [...cores.slice(KEPT_CORES), ...abandoned];
    await Promise.all(superfluous.map(({ name }) => rm(join(this.#folder, name), { force: true, recursive: true })));
  }

  /** 0 for what has just been removed by somebody else. */
  async #time(name: string): Promise<number> {
    return stat(join(this.#folder, name)).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
  }
}
