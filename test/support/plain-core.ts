import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type LaunchImageOptions, launchImage } from "swank-client/launch";
import { testCache } from "./test-cache.js";

/** Options for an image without the runtime, which launching does not need and which takes as long to load as Swank. */
export const PLAIN: LaunchImageOptions = { runtimeSources: [] };

/** The folder of the compiled Swanks in a cache folder. */
export const COMPILED = "fasl";

/** Returns the file of a core for such an image, and builds it at the first run. */
export async function plainCore(): Promise<string> {
  const cacheDir = testCache("plain");
  await (await launchImage({ ...PLAIN, cacheDir })).stop();
  return latest(cacheDir, (name) => name.endsWith(".core"));
}

/** Returns the folder of the compiled Swank for such an image, and compiles it at the first run. */
export async function plainSwank(): Promise<string> {
  const cacheDir = testCache("plain");
  await (await launchImage({ ...PLAIN, cacheDir, useCore: false })).stop();
  return latest(join(cacheDir, COMPILED), (name) => !name.includes("."));
}

/** The path of the file or folder that was used last. Launching from it updates its modification time. */
async function latest(folder: string, isWanted: (name: string) => boolean): Promise<string> {
  const names = (await readdir(folder)).filter(isWanted);
  const dated = await Promise.all(
    names.map(async (name) => ({ path: join(folder, name), used: (await stat(join(folder, name))).mtimeMs })),
  );
  const [last] = dated.sort((a, b) => b.used - a.used);
  if (last === undefined) throw new Error(`Nothing was built in ${folder}.`);
  return last.path;
}
