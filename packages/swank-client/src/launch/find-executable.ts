import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, join, resolve, sep } from "node:path";

/**
 * Finds a command as a shell does.
 *
 * @param command - A path, or a name on the PATH.
 * @returns an absolute path, or `undefined` if there is no such executable.
 */
export async function findExecutable(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const folders = command.includes(sep) ? [""] : (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  for (const folder of folders) {
    const path = resolve(join(folder, command));
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
