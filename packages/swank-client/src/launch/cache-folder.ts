import { constants } from "node:fs";
import { access, lstat, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { homeFolder } from "./home-folder.js";
import { makeFolder } from "./make-folder.js";

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
export function temporaryFolder(): string {
  return join(tmpdir(), `${NAME}-${process.getuid?.() ?? "user"}`);
}

/**
 * Makes a folder if it is not there, and looks whether cores and compiled files can be kept in it: they are run as this user, so nobody
 * else may be able to put them there.
 *
 * @returns what is wrong with it, or `undefined`
 */
export async function prepareFolder(folder: string): Promise<string | undefined> {
  try {
    await makeFolder(folder);
    const [found, link] = await Promise.all([stat(folder), lstat(folder)]);
    if (!found.isDirectory()) return `${folder} is not a folder`;
    const user = process.getuid?.();
    if (user !== undefined && (found.uid !== user || link.uid !== user)) return `${folder} belongs to another user`;
    if (found.mode & 0o022) return `${folder} can be written by other users`;
    await access(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return `${folder} cannot be written: ${error instanceof Error ? error.message : String(error)}`;
  }
}
