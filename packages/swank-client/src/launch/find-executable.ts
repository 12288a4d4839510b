import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, resolve, sep } from "node:path";
import { attempted } from "../base/attempted.js";

/**
 * Finds a command as a shell does.
 *
 * @param command - A path, or a name on the PATH.
 * @returns an absolute path, or `undefined` if there is no such executable.
 */
export function findExecutable(command: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const folders = command.includes(sep) ? [""] : (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => resolve(join(folder, command))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  const isFile = attempted(() => {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  });
  return isFile === true;
}
