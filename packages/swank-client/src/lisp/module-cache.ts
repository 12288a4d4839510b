import { createHash, randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { readdir, utimes } from "node:fs/promises";
import { join, resolve } from "node:path";
import { defaultCacheFolder, prepareCache } from "../cache/cache-folder.js";
import { removeAbandoned, removeQuietly } from "../cache/drafts.js";
import { useOwnFile } from "../cache/own-file.js";
import { ownSubfolder } from "../cache/own-folder.js";
import { latestOf, removeUnused } from "../cache/remove-unused.js";
import type { OwnFile } from "./load-forms.js";
import type { RuntimeModule } from "./runtime-source.js";

/** The name of its folder in the cache. */
const FOLDER = "runtime";

/** Number of Lisps and versions of the runtime for which compiled modules are kept. The least recently used are removed. */
const KEPT = 6;

/** Names of the folders for one Lisp. */
const KEY = /^[0-9a-f]{24}$/;

/** The folder with the compiled modules of all Lisps. Each Lisp has a folder in it, whose name is a hash, the key. */
export class ModuleCache {
  readonly #wanted: string;
  #folder: Promise<string | undefined> | undefined;
  /** The keys that are noted as used. */
  readonly #used = new Set<string>();

  /** @param cacheDir - The folder for the cache; default: the user's. */
  constructor(cacheDir?: string) {
    this.#wanted = resolve(cacheDir ?? defaultCacheFolder());
  }

  /** Its path. `undefined` if no folder can be used. */
  folder(): Promise<string | undefined> {
    this.#folder ??= prepareCache(this.#wanted).then(({ path }) =>
      path === undefined ? undefined : ownSubfolder(path, FOLDER),
    );
    return this.#folder;
  }

  /** The folder for one Lisp, which is made if there is none. */
  async folderOf(key: string): Promise<string | undefined> {
    const parent = await this.folder();
    return parent === undefined ? undefined : ownSubfolder(parent, key);
  }

  /** The key of the Lisp that was used last, among those that begin in a certain way. Makes no folder. Never rejects. */
  async latest(beginning: string): Promise<string | undefined> {
    if (!existsSync(join(this.#wanted, FOLDER))) return undefined;
    const parent = await this.folder();
    if (parent === undefined) return undefined;
    const keys = await keysIn(parent).catch(() => []);
    return latestOf(
      parent,
      keys.filter((key) => key.startsWith(beginning)),
    );
  }

  /** A compiled module, if there is one. A file that is damaged, or that another user may have written, is removed. Never rejects. */
  async find(key: string, module: RuntimeModule): Promise<OwnFile | undefined> {
    const file = await this.peek(key, module);
    if (file !== undefined) this.noteUsed(key);
    return file;
  }

  /** The same, without noting that it is used. */
  peek(key: string, module: RuntimeModule): Promise<OwnFile | undefined> {
    return this.#read(key, module).catch(() => undefined);
  }

  /** Notes that a folder is used, for `latest` and `prune`. Nothing waits for it. */
  noteUsed(key: string): void {
    if (this.#used.has(key)) return;
    this.#used.add(key);
    void this.#markUsed(key);
  }

  /** Removes folders that were not used for a long time. */
  async prune(): Promise<void> {
    const parent = await this.folder();
    if (parent === undefined) return;
    await removeUnused(parent, await keysIn(parent), KEPT);
    await removeAbandoned(parent);
  }

  async #read(key: string, module: RuntimeModule): Promise<OwnFile | undefined> {
    const folder = await this.folderOf(key);
    if (folder === undefined) return undefined;
    const path = join(folder, fileName(module));
    const found = await useOwnFile(path, (file) => readFileSync(file)).catch(() => undefined);
    if (found === undefined) return undefined;
    const header = "value" in found ? soundHeader(found.value) : undefined;
    if (header !== undefined) return { path, header };
    await removeQuietly(path);
    return undefined;
  }

  /** Never rejects. */
  async #markUsed(key: string): Promise<void> {
    const folder = await this.folder();
    const now = new Date();
    if (folder !== undefined) await utimes(join(folder, key), now, now).catch(() => undefined);
  }
}

async function keysIn(parent: string): Promise<readonly string[]> {
  return (await readdir(parent)).filter((name) => KEY.test(name));
}

/** The name of a module's file. */
export function fileName({ name }: RuntimeModule): string {
  return `${name}.fasl`;
}

/** The first line of a file: a comment in Lisp. Only this user knows the random part. */
export function makeHeader(hash: string): string {
  return `;swank-client ${randomBytes(16).toString("hex")} ${hash}\n`;
}

/** The SHA-256 of data, in hexadecimal digits. */
export function hashOf(data: Uint8Array | string): string {
  return createHash("sha256").update(data).digest("hex");
}

/** The first line of a compiled module; `undefined` if the rest is not what was written. */
function soundHeader(data: Buffer): string | undefined {
  const end = data.indexOf("\n") + 1;
  const header = data.toString("latin1", 0, end);
  return header.endsWith(` ${hashOf(data.subarray(end))}\n`) ? header : undefined;
}
