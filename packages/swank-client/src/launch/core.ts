import { futimesSync } from "node:fs";
import { chmod, lstat, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { asSwankError, SwankError } from "../base/errors.js";
import { eitherSignal } from "../base/waiting.js";
import { doExclusively, KeptFiles, removeQuietly } from "../files/kept.js";
import { attempted, treeProblem, useOwnFile } from "../files/own.js";
import {
  type CoreIngredients,
  callForm,
  coreArgs,
  type LaunchPlan,
  lispEnvironment,
  lispFile,
  loadFileForm,
  loadSwankForms,
  swankKey,
  underDefaultSettings,
} from "./plan.js";
import { printedText, runLisp } from "./process.js";

/** Number of cores to keep. The least recently used are removed. */
const KEPT_CORES = 3;

/** A core in the cache. */
interface KeptCore {
  readonly path: string;
  /** Identifies the file at the time of the lookup. Another process may replace it. */
  readonly inode: number;
}

/** The cores in a cache folder, by key. */
export class CoreCache {
  readonly #kept: KeptFiles;
  readonly #notes: string[];

  /**
   * @param folder - An existing folder that only this user can write.
   * @param notes - Notes for the user are added here.
   */
  constructor(folder: string, notes: string[]) {
    this.#kept = new KeptFiles(folder, KEPT_CORES, ".core");
    this.#notes = notes;
  }

  /** The lock file that exists while the core of a key is being built. */
  lockFile(key: string): string {
    return this.#kept.lockFileOf(key);
  }

  /** Makes a folder for this process to build the core of a key in. */
  makeDraft(key: string): Promise<string> {
    return this.#kept.makeDraft(key);
  }

  /** Looks up the core of a key and updates its time of use. A core that another user may have written is removed: a core is a program. */
  async find(key: string): Promise<KeptCore | undefined> {
    const path = this.#kept.pathOf(key);
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

  /**
   * Stores a finished core under its key, replacing any other, and removes files that are no longer needed. A core that an image runs from can be
   * removed: the image keeps the mapped file.
   */
  async adopt(file: string, key: string): Promise<KeptCore> {
    await chmod(file, 0o600);
    const { ino: inode } = await lstat(file);
    await this.#kept.adopt(file, key);
    return { path: this.#kept.pathOf(key), inode };
  }

  /** Removes a core unless another one has replaced it. */
  async remove({ path, inode }: KeptCore): Promise<void> {
    const file = await lstat(path).catch(() => undefined);
    if (file?.ino === inode) await removeQuietly(path);
  }

  /** Removes files that killed processes left. Never rejects. */
  tidy(): Promise<void> {
    return this.#kept.removeAbandoned();
  }
}

/** Milliseconds that a build may take. A fast machine needs 5 s. */
const BUILD_TIMEOUT = 300_000;

/** A core to build. */
interface CoreBuild {
  /** The folder of the compiled Swank, which is compiled there if the folder is empty. */
  readonly fasls: string;
  readonly ingredients: CoreIngredients;
  /** The greeting of images started from the core. */
  readonly greeting: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal | undefined;
  /** Whether other processes of this machine go first. */
  readonly isBackground: boolean;
  readonly onLog: ((line: string) => void) | undefined;
}

/** The forms are passed on standard input, which has no length limit. */
const READ_INPUT = "(cl:load (sb-sys:make-fd-stream 0 :input t :buffering :full :external-format :utf-8))";

/**
 * Builds a core with Swank in it.
 *
 * @param file - The core's path, in a folder that no other code uses.
 * @throws SwankError `CORE_BUILD_FAILED`; `CANCELLED`
 */
async function buildCore(file: string, build: CoreBuild): Promise<void> {
  const { lisp } = build.ingredients;
  const limit = AbortSignal.timeout(BUILD_TIMEOUT);
  const result = await runLisp(lisp.runtime, {
    args: [...coreArgs(lisp), "--no-sysinit", "--no-userinit", "--non-interactive", "--eval", READ_INPUT],
    input: buildForms(file, build).join("\n"),
    env: lispEnvironment(lisp, build.env),
    signal: eitherSignal(build.signal, limit),
    onLine: build.onLog,
    isBackground: build.isBackground,
  });
  if (build.signal?.aborted) throw new SwankError("CANCELLED", "Building the core was cancelled.");
  if (limit.aborted && !result.succeeded)
    throw buildFailed(`not finished after ${BUILD_TIMEOUT / 60_000} minutes`, result.output);
  if (!result.succeeded) throw buildFailed(result.ending, result.output);
}

function buildForms(file: string, { ingredients, greeting, fasls }: CoreBuild): readonly string[] {
  const loading = [
    ...loadSwankForms(ingredients.swankFolder, fasls),
    loadFileForm(lispFile("launch/core")),
    ...ingredients.runtime.sources.map((text) => callForm("launch:load-runtime", text)),
  ];
  return [underDefaultSettings(loading), callForm("launch:save-core", file, greeting, ingredients.warmUp)];
}

function buildFailed(ending: string, output: string): SwankError {
  return new SwankError("CORE_BUILD_FAILED", `Lisp could not build a core (${ending}).${printedText(output)}`, {
    details: { output },
  });
}

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
  const kept = await KeptFiles.inside(cacheFolder, FOLDER, KEPT);
  if (kept === undefined) return load(undefined);
  await kept.removeAbandoned();
  const key = swankKey(ingredients);
  const wasKept = await isUsable(kept, key, notes);
  if (wasKept) {
    try {
      return await load(kept.pathOf(key));
    } catch (error) {
      if (asSwankError(error).code === "CANCELLED") throw error;
    }
  }
  const fresh = await freshFiles(kept, key, wasKept).catch(() => NOWHERE);
  try {
    const result = await load(fresh.folder);
    await fresh.publish();
    return result;
  } catch (error) {
    const isFull = fresh.folder !== undefined && !(await hasSpace(fresh.folder));
    await fresh.discard();
    if (!isFull || asSwankError(error).code === "CANCELLED") throw error;
    notes.push(`Swank's compiled files cannot be kept: ${kept.folder} is full or cannot be written.`);
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
async function isUsable(kept: KeptFiles, key: string, notes: string[]): Promise<boolean> {
  const folder = kept.pathOf(key);
  if ((await lstat(folder).catch(() => undefined)) === undefined) return false;
  const problem = await treeProblem(folder).catch(() => "cannot be read");
  if (problem === undefined) {
    await kept.noteUse(key);
    return true;
  }
  notes.push(`The compiled files in ${folder} were not used and are rebuilt: it ${problem}.`);
  await removeQuietly(folder);
  return false;
}

async function freshFiles(kept: KeptFiles, key: string, areKeptDamaged: boolean): Promise<FreshFiles> {
  const folder = await kept.makeDraft(key);
  const discard = () => removeQuietly(folder);
  const publish = async () => {
    if (areKeptDamaged) await removeQuietly(kept.pathOf(key));
    // Another process may have published the same files in between.
    await protect(folder)
      .then(() => kept.adopt(folder, key))
      .catch(discard);
  };
  return { folder, publish, discard };
}

/** Makes all files of a folder writable for this user only. The user's umask may make them writable for a group. */
async function protect(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  await Promise.all(
    names.map((entry) => chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o700 : 0o600)),
  );
}

/** How a core is built. */
interface BuildOptions {
  /** Ends the build. */
  readonly signal: AbortSignal | undefined;
  /** Whether other processes of this machine go first. */
  readonly isBackground: boolean;
  /** Called when this process builds the core itself. */
  readonly onWork?: () => void;
}

/**
 * Builds the core of a plan, or waits for another process that is building it.
 *
 * @returns `undefined` if another process is building it and does not finish
 * @throws SwankError `CORE_BUILD_FAILED`, `CANCELLED`; an `AbortError` if the signal is aborted while waiting
 */
export function buildOnce(plan: LaunchPlan, cache: CoreCache, options: BuildOptions): Promise<KeptCore | undefined> {
  return doExclusively<KeptCore>({
    lockFile: cache.lockFile(plan.key),
    signal: options.signal,
    found: () => cache.find(plan.key),
    work: () => {
      options.onWork?.();
      return build(plan, cache, options);
    },
  });
}

async function build(plan: LaunchPlan, cache: CoreCache, options: BuildOptions): Promise<KeptCore> {
  const draft = await cache.makeDraft(plan.key);
  try {
    const core = join(draft, "core");
    await withCompiledSwank(plan, (fasls = draft) => buildCore(core, coreBuild(plan, options, fasls)));
    return await cache.adopt(core, plan.key);
  } finally {
    await removeQuietly(draft);
  }
}

function coreBuild(plan: LaunchPlan, { signal, isBackground }: BuildOptions, fasls: string): CoreBuild {
  const { ingredients, greeting, env, options } = plan;
  return { ingredients, greeting, env, signal, isBackground, fasls, onLog: options.onLog };
}

/** How a build in the background ended. */
export type CoreBuildEnd =
  | { readonly status: "built" }
  /** The image ended first. The next launch builds the core. */
  | { readonly status: "cancelled" }
  | { readonly status: "failed"; readonly reason: string };

/** The building of a core while an image already runs. Other processes of the machine go first. */
export class BackgroundBuild {
  /** Never rejects. */
  readonly end: Promise<CoreBuildEnd>;
  readonly #cancelling = new AbortController();

  constructor(plan: LaunchPlan, cache: CoreCache) {
    this.end = this.#build(plan, cache);
  }

  /** Ends the build, if it is not finished. Resolves when its process has ended. Never rejects. */
  async cancel(): Promise<void> {
    this.#cancelling.abort();
    await this.end;
  }

  async #build(plan: LaunchPlan, cache: CoreCache): Promise<CoreBuildEnd> {
    const { signal } = this.#cancelling;
    try {
      const core = await buildOnce(plan, cache, { signal, isBackground: true });
      return core === undefined
        ? { status: "failed", reason: "Another process is building it and does not finish." }
        : { status: "built" };
    } catch (error) {
      return signal.aborted ? { status: "cancelled" } : { status: "failed", reason: asSwankError(error).message };
    }
  }
}

/** The folder, in the cache folder, with an empty file for each core whose building in the background has begun. */
const BEGUN_FOLDER = "begun";

/** Number of files to keep, as of cores. */
const KEPT_NOTES = 3;

/**
 * Whether an earlier launch has begun to build this core in the background. If the core does not exist, that image ended too early, and
 * the next one may, too.
 */
export function hasBegun(cacheFolder: string, key: string): Promise<boolean> {
  return lstat(join(cacheFolder, BEGUN_FOLDER, key)).then(
    () => true,
    () => false,
  );
}

/** Records that the building begins. Never rejects: without the record, the next launch builds in the background, too. */
export async function recordBegun(cacheFolder: string, key: string): Promise<void> {
  const kept = await KeptFiles.inside(cacheFolder, BEGUN_FOLDER, KEPT_NOTES);
  await kept?.write(key, "");
}
