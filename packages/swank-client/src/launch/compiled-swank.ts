import { mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { prepareFolder, temporaryFolder } from "./cache-folder.js";
import { makeFolder } from "./make-folder.js";

/** Compiled Swanks that are kept, the newest. */
const KEPT = 2;

/** Where the compiled files of a Swank that is loaded without a core are. */
export interface CompiledSwank {
  /** `undefined`: nowhere; it must be loaded without compiling it to files. */
  readonly folder: string | undefined;
  /** Whether an earlier image has compiled it. */
  readonly isKept: boolean;
  /** Lets later images use what was compiled. */
  publish(): Promise<void>;
  /** Removes what was compiled, by this image or an earlier one. Nothing that was published by now. */
  discard(): Promise<void>;
}

const doNothing = async () => undefined;

const NOWHERE: CompiledSwank = { folder: undefined, isKept: false, publish: doNothing, discard: doNothing };

/**
 * Finds or makes a folder for compiled files, in the cache folder or, when that cannot be used, in a temporary one.
 * It is filled by one image only, and then never changed, so that no image loads a file that another one is writing.
 *
 * @param key - Of what the files are compiled from, and with what.
 */
export async function compiledSwank(cacheFolder: string | undefined, key: string): Promise<CompiledSwank> {
  const temporary = temporaryFolder();
  const base = cacheFolder ?? ((await prepareFolder(temporary)) === undefined ? temporary : undefined);
  if (base === undefined) return NOWHERE;
  const folder = join(base, "fasl", key);
  if (await exists(folder)) return { folder, isKept: true, publish: doNothing, discard: () => removeFolder(folder) };
  return draft(folder).catch(() => NOWHERE);
}

async function draft(folder: string): Promise<CompiledSwank> {
  await makeFolder(dirname(folder));
  const path = await mkdtemp(`${folder}.`);
  const discard = () => removeFolder(path);
  // Somebody else may have published the same meanwhile; one is enough.
  const publish = async () => {
    await rename(path, folder).catch(discard);
    await prune(dirname(folder));
  };
  return { folder: path, isKept: false, publish, discard };
}

async function prune(parent: string): Promise<void> {
  const names = await readdir(parent);
  const dated = await Promise.all(
    names.map(async (name) => ({ name, time: (await stat(join(parent, name))).mtimeMs })),
  );
  const old = dated.sort((a, b) => b.time - a.time).slice(KEPT);
  await Promise.all(old.map(({ name }) => removeFolder(join(parent, name))));
}

async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

async function exists(folder: string): Promise<boolean> {
  return stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
