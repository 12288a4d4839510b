import { execFile } from "node:child_process";
import { inRepository } from "../setup/paths.mjs";

/**
 * Runs a program of an installed npm package and keeps what it says.
 *
 * @param {string} file path below node_modules
 * @param {readonly string[]} args
 * @returns {Promise<string[]>} nothing when it succeeded, else all that it said
 */
export function problemsOf(file, args) {
  return new Promise((resolve) => {
    const options = { cwd: inRepository(), maxBuffer: 2 ** 26 };
    execFile(process.execPath, [inRepository(`node_modules/${file}`), ...args], options, (error, stdout, stderr) => {
      resolve(error === null ? [] : [`${stdout}${stderr}`.trim() || error.message]);
    });
  });
}
