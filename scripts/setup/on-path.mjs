import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/**
 * Whether a program can be started by its name.
 *
 * @param {string} program
 * @param {string} path as in the environment variable PATH
 */
export function isOnPath(program, path = process.env["PATH"] ?? "") {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return folder !== "";
    } catch {
      return false;
    }
  });
}
