import { execFile } from "node:child_process";
import { inRepository } from "../setup/paths.mjs";

/**
 * Runs a program of an installed npm package and captures its output.
 *
 * @param {string} file path below node_modules
 * @param {readonly string[]} args
 * @returns {Promise<string[]>} empty if it succeeded, else its whole output
 */
export function problemsOf(file, args) {
  return new Promise((resolve) => {
    const options = { cwd: inRepository(), maxBuffer: 2 ** 26 };
    execFile(process.execPath, [inRepository(`node_modules/${file}`), ...args], options, (error, stdout, stderr) => {
      resolve(error === null ? [] : [`${stdout}${stderr}`.trim() || error.message]);
    });
  });
}
