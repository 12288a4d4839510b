import { constants } from "node:fs";
import { access, lstat, mkdir } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

/** What this library keeps between runs is in a folder of this name. */
const NAME = "swank-toolkit";

/** The folder that is used when none is named: in the user's cache folder, as the system has it. */
export function defaultCacheFolder(
  env: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const home = env["HOME"] || homedir();
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
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.W_OK | constants.X_OK);
    const { uid, mode } = await lstat(folder);
    const isForeign = process.getuid !== undefined && uid !== process.getuid();
    if (isForeign) return `${folder} belongs to another user`;
    return mode & 0o022 ? `${folder} can be written by other users` : undefined;
  } catch (error) {
    return `${folder} cannot be written: ${error instanceof Error ? error.message : String(error)}`;
  }
}
