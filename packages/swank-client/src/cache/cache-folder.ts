import { tmpdir } from "node:os";
import { join } from "node:path";
import { homeFolder } from "./home-folder.js";
import { ownFolder } from "./own-folder.js";

/** The name of the folder in which this library keeps files between runs. */
const NAME = "swank-toolkit";

/** The default folder, in the user's cache folder. */
export function defaultCacheFolder(
  env: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const home = homeFolder(env);
  const caches = platform === "darwin" ? join(home, "Library/Caches") : env["XDG_CACHE_HOME"] || join(home, ".cache");
  return join(caches, NAME);
}

/** A temporary folder for this user only. */
function temporaryFolder(): string {
  return join(tmpdir(), `${NAME}-${process.getuid?.() ?? "user"}`);
}

/** The folder for files kept between launches. */
export interface CacheFolder {
  /** `undefined` if there is none. */
  readonly path: string | undefined;
  /** Why it is not the wanted folder, a sentence. */
  readonly note: string | undefined;
}

/** Makes the wanted folder if needed. If it cannot be used, or other users could write it, a temporary folder is used instead. */
export async function prepareCache(wanted: string): Promise<CacheFolder> {
  const found = await ownFolder(wanted);
  if ("path" in found) return { path: found.path, note: undefined };
  const other = await ownFolder(temporaryFolder());
  return "path" in other
    ? { path: other.path, note: `Files are kept between launches in ${other.path}: ${found.problem}.` }
    : { path: undefined, note: `No files can be kept between launches: ${found.problem}.` };
}
