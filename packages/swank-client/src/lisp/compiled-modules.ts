import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeDraft, removeQuietly } from "../cache/drafts.js";
import type { ModuleName } from "./descriptor.js";
import { compilingForms, type OwnFile, sameLispForm } from "./load-forms.js";
import { fileName, hashOf, type ModuleCache, makeHeader } from "./module-cache.js";
import { type RuntimeModule, runtimeModule } from "./runtime-source.js";

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
  readonly #cache: ModuleCache;
  readonly #lisp: readonly unknown[];
  /** The folder's name for this Lisp: all modules have the same version. */
  #key: string | undefined;

  /** @param lisp - Strings that identify the Lisp: its version, that of Swank, and so on. */
  constructor(cache: ModuleCache, lisp: readonly unknown[]) {
    this.#cache = cache;
    this.#lisp = lisp;
  }

  /** A compiled module, if there is one. A file that is damaged, or that another user may have written, is removed. Never rejects. */
  find(module: RuntimeModule): Promise<OwnFile | undefined> {
    return this.#cache.find(this.#keyOf(module), module);
  }

  /** Writes the texts of a module for an image to compile. `undefined` if there is no place for them. Never rejects. */
  async draft(module: RuntimeModule): Promise<ModuleDraft | undefined> {
    const cache = this.#cache;
    const [parent, folder] = await Promise.all([cache.folder(), cache.folderOf(this.#keyOf(module))]).catch(() => []);
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
        if (isCompiled) await cache.prune().catch(() => undefined);
        return isCompiled;
      },
      remove: () => removeQuietly(path),
    };
  }

  #keyOf({ version }: RuntimeModule): string {
    this.#key ??= runtimeKey(version) + hashOf(JSON.stringify(this.#lisp)).slice(0, 12);
    return this.#key;
  }
}

/** The beginning of the names of the folders for a version of the runtime, whatever the Lisp. */
function runtimeKey(version: string): string {
  return hashOf(JSON.stringify([version, compilingForms(), COMPILED_AT_ONCE])).slice(0, 12);
}

/** The modules compiled for the Lisp that was used last. */
export interface LatestModules {
  /** A module, and its file, if there is one. Never rejects. */
  find(name: ModuleName): Promise<{ readonly module: RuntimeModule; readonly file: OwnFile } | undefined>;
  /** Notes that an image has loaded one. */
  noteUsed(): void;
}

/** Looks for them, without reading a file or making a folder. */
export async function latestModules(cache: ModuleCache): Promise<LatestModules | undefined> {
  const key = await cache.latest(runtimeKey(runtimeModule("connection").version));
  if (key === undefined) return undefined;
  return {
    async find(name) {
      const module = runtimeModule(name);
      const file = await cache.peek(key, module);
      return file && { module, file };
    },
    noteUsed: () => cache.noteUsed(key),
  };
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
