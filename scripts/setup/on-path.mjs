import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/**
 * Returns whether PATH contains a program.
 *
 * @param {string} program
 * @param {string} path value of the environment variable PATH
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
