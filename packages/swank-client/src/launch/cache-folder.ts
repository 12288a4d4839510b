import { tmpdir } from "node:os";
import { join } from "node:path";
import { homeFolder } from "./home-folder.js";
import { ownFolder } from "./own-folder.js";

/** What this library keeps between runs is in a folder of this name. */
const NAME = "swank-toolkit";

/** The folder that is used when none is named: in the user's cache folder, as the system has it. */
export function defaultCacheFolder(
  env: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const home = homeFolder(env);
  const caches = platform === "darwin" ? join(home, "Library/Caches") : env["XDG_CACHE_HOME"] || join(home, ".cache");
  return join(caches, NAME);
}

/** A folder for temporary things that other users cannot have put anything into. */
function temporaryFolder(): string {
  return join(tmpdir(), `${NAME}-${process.getuid?.() ?? "user"}`);
}

/** Where things are kept between launches. */
export interface CacheFolder {
  /** `undefined`: nowhere. */
  readonly path: string | undefined;
  /** Why that is not the folder that was wanted, a sentence. */
  readonly note: string | undefined;
}

/** Makes the wanted folder if it is not there. A temporary one takes its place when it cannot be used, or when other users could write it. */
export async function prepareCache(wanted: string): Promise<CacheFolder> {
  const found = await ownFolder(wanted);
  if ("path" in found) return { path: found.path, note: undefined };
  const other = await ownFolder(temporaryFolder());
  return "path" in other
    ? { path: other.path, note: `What is kept between launches is in ${other.path}: ${found.problem}.` }
    : { path: undefined, note: `Nothing can be kept between launches: ${found.problem}.` };
}
