import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type LaunchImageOptions, launchImage } from "swank-client/launch";
import { testCache } from "./test-cache.js";

/** Options for an image without the runtime, which launching does not need and which takes as long to load as Swank. */
export const PLAIN: LaunchImageOptions = { runtimeSources: [] };

/** Returns the file of a core for such an image, and builds it at the first run. */
export async function plainCore(): Promise<string> {
  const cacheDir = testCache("plain");
  await (await launchImage({ ...PLAIN, cacheDir })).stop();
  const cores = (await readdir(cacheDir)).filter((name) => name.endsWith(".core"));
  const dated = await Promise.all(
    cores.map(async (name) => ({ path: join(cacheDir, name), used: (await stat(join(cacheDir, name))).mtimeMs })),
  );
  // Launching from a core updates its modification time.
  const [latest] = dated.sort((a, b) => b.used - a.used);
  if (latest === undefined) throw new Error(`No core was built in ${cacheDir}.`);
  return latest.path;
}
