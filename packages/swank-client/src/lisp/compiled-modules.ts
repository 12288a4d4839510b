import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { readdir, readFile, rename, utimes, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { defaultCacheFolder, prepareCache } from "../cache/cache-folder.js";
import { makeDraft, removeAbandoned, removeQuietly } from "../cache/drafts.js";
import { useOwnFile } from "../cache/own-file.js";
import { ownSubfolder } from "../cache/own-folder.js";
import { removeUnused } from "../cache/remove-unused.js";
import { compilingForms, type OwnFile, sameLispForm } from "./load-forms.js";
import type { RuntimeModule } from "./runtime-source.js";

/** Number of Lisps and versions of the runtime for which compiled modules are kept. The least recently used are removed. */
const KEPT = 6;

/** Characters of the texts in a file that an image compiles. The user's compilations wait while it compiles one, for 0.1 to 0.15 s. */
const COMPILED_AT_ONCE = 20_000;

/** A folder in which an image can compile a module. */
export interface ModuleDraft extends OwnFile {
  /** The number of files to compile. */
  readonly count: number;
  /** Moves the compiled module to the cache. Call it only after the image has finished. Never rejects. => false if there is none */
  keep(): Promise<boolean>;
  /** Removes the folder. Never rejects. */
  remove(): Promise<void>;
}

/**
 * The compiled modules of the runtime for one Lisp, in the cache. A file is replaced as a whole and otherwise never changes. Only this
 * user can have written it, and it begins with a hash of the rest.
 */
export class CompiledModules {
  readonly #cacheDir: string | undefined;
  readonly #lisp: readonly unknown[];
  #parent: Promise<string | undefined> | undefined;
  /** The folder's name for this Lisp: all modules have the same version. */
  #key: string | undefined;
  /** Set when the first module was found: a folder has all modules of a connection. Nothing waits for it. */
  #used: Promise<void> | undefined;

  /**
   * @param cacheDir - The folder for the cache; default: the user's.
   * @param lisp - Strings that identify the Lisp: its version, that of Swank, and so on.
   */
  constructor(cacheDir: string | undefined, lisp: readonly unknown[]) {
    this.#cacheDir = cacheDir;
    this.#lisp = lisp;
  }

  /** A compiled module, if there is one. A file that is damaged, or that another user may have written, is removed. Never rejects. */
  async find(module: RuntimeModule): Promise<OwnFile | undefined> {
    const folder = await this.#folder(module).catch(() => undefined);
    if (folder === undefined) return undefined;
    const path = join(folder, fileName(module));
    const found = await useOwnFile(path, (file) => readFileSync(file)).catch(() => undefined);
    if (found === undefined) return undefined;
    const header = "value" in found ? soundHeader(found.value) : undefined;
    if (header === undefined) {
      await removeQuietly(path);
      return undefined;
    }
    this.#used ??= markUsed(folder);
    return { path, header };
  }

  /** Writes the texts of a module for an image to compile. `undefined` if there is no place for them. Never rejects. */
  async draft(module: RuntimeModule): Promise<ModuleDraft | undefined> {
    const [parent, folder] = await Promise.all([this.#root(), this.#folder(module)]).catch(() => []);
    if (parent === undefined || folder === undefined) return undefined;
    const path = await makeDraft(parent, "module").catch(() => undefined);
    if (path === undefined) return undefined;
    const header = makeHeader("");
    const texts = joinTexts([`${header}${sameLispForm()}\n`, ...module.texts]);
    const count = texts.length;
    try {
      await Promise.all(texts.map((text, index) => writeFile(join(path, `${index}.lisp`), text, { mode: 0o600 })));
    } catch {
      await removeQuietly(path);
      return undefined;
    }
    return {
      path,
      header,
      count,
      async keep() {
        const isCompiled = await joinFiles(path, count, join(folder, fileName(module))).then(
          () => true,
          () => false,
        );
        if (isCompiled) await prune(parent).catch(() => undefined);
        return isCompiled;
      },
      remove: () => removeQuietly(path),
    };
  }

  /** The folder for all Lisps. `undefined` if none can be used. */
  #root(): Promise<string | undefined> {
    this.#parent ??= prepareCache(resolve(this.#cacheDir ?? defaultCacheFolder())).then(({ path }) =>
      path === undefined ? undefined : ownSubfolder(path, "runtime"),
    );
    return this.#parent;
  }

  /** The folder for this Lisp. */
  async #folder({ version }: RuntimeModule): Promise<string | undefined> {
    const parent = await this.#root();
    if (parent === undefined) return undefined;
    this.#key ??= hashOf(JSON.stringify([version, compilingForms(), this.#lisp])).slice(0, 24);
    return ownSubfolder(parent, this.#key);
  }
}

function fileName({ name }: RuntimeModule): string {
  return `${name}.fasl`;
}

/** The first line of a file: a comment in Lisp. Only this user knows the random part. */
function makeHeader(hash: string): string {
  return `;swank-client ${randomBytes(16).toString("hex")} ${hash}\n`;
}

function hashOf(data: Uint8Array | string): string {
  return createHash("sha256").update(data).digest("hex");
}

/** The first line of a compiled module; `undefined` if the rest is not what was written. */
function soundHeader(data: Buffer): string | undefined {
  const end = data.indexOf("\n") + 1;
  const header = data.toString("latin1", 0, end);
  return header.endsWith(` ${hashOf(data.subarray(end))}\n`) ? header : undefined;
}

/** The texts, which end in a line feed, joined into fewer: a compiled file names its symbols once, and calls its own functions directly. */
function joinTexts(texts: readonly string[]): readonly string[] {
  const joined: string[] = [];
  for (const text of texts) {
    const last = joined.at(-1);
    if (last === undefined || last.length + text.length > COMPILED_AT_ONCE) joined.push(text);
    else joined[joined.length - 1] = last + text;
  }
  return joined;
}

/** Joins the compiled files of a module into one; SBCL loads that like the single files. Rejects if the image has not compiled them. */
async function joinFiles(folder: string, count: number, path: string): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => join(folder, `${index}.fasl`));
  const compiled = Buffer.concat(await Promise.all(names.map((name) => readFile(name))));
  const draft = join(folder, "module");
  await writeFile(draft, Buffer.concat([Buffer.from(makeHeader(hashOf(compiled))), compiled]), { mode: 0o600 });
  await rename(draft, path);
}

/** Notes that a folder was used, for `removeUnused`. Never rejects. */
async function markUsed(folder: string): Promise<void> {
  const now = new Date();
  await utimes(folder, now, now).catch(() => undefined);
}

async function prune(parent: string): Promise<void> {
  const names = (await readdir(parent)).filter((name) => /^[0-9a-f]{24}$/.test(name));
  await removeUnused(parent, names, KEPT);
  await removeAbandoned(parent);
}
