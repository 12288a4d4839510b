import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { inRepository } from "./paths.mjs";
import { runProgram, SetupError } from "./programs.mjs";

/** @typedef {{ packages: Record<string, { version?: string, integrity?: string, link?: boolean, optional?: boolean }> }} Lockfile */

/**
 * Installs the packages of a package-lock.json, unless exactly these are installed.
 *
 * @param {string} [folder] folder of the lockfile, relative to the repository's root
 * @param {readonly string[]} [options] of `npm ci`
 * @throws {SetupError} if npm fails
 */
export async function ensureDependencies(folder = ".", options = []) {
  const wanted = await readLockfile(join(folder, "package-lock.json"));
  const installed = await readLockfile(join(folder, "node_modules/.package-lock.json"));
  if (wanted && installed && isInstalled(wanted, installed)) return;
  process.stderr.write(`Installing npm packages (npm ci${folder === "." ? "" : ` in ${folder}`}) ...\n`);
  const code = await runNpm(["ci", "--include=dev", "--no-audit", "--no-fund", ...options], inRepository(folder));
  if (code !== 0)
    throw new SetupError("npm ci failed. Its errors are above. Correct the problem and run the same command again.");
}

/**
 * Returns whether an installation (npm's record of it, node_modules/.package-lock.json) matches a lockfile.
 * Compares versions instead of file times, because a checkout changes times without changing packages.
 *
 * @param {Lockfile} wanted
 * @param {Lockfile} installed
 */
export function isInstalled(wanted, installed) {
  return Object.entries(wanted.packages).every(([path, entry]) => {
    if (path === "" || entry.optional) return true;
    const there = installed.packages[path];
    return there !== undefined && there.version === entry.version && there.integrity === entry.integrity;
  });
}

/**
 * @param {string} path from the repository's root
 * @returns {Promise<Lockfile | undefined>} `undefined` if it is missing or damaged; then `npm ci` repairs or reports it
 */
async function readLockfile(path) {
  try {
    return JSON.parse(await readFile(inRepository(path), "utf8"));
  } catch {
    return undefined;
  }
}

/** @param {readonly string[]} args @param {string} cwd */
function runNpm(args, cwd) {
  const npm = process.env["npm_execpath"];
  // Under `npm start`, npm_execpath is npm's script. Otherwise Windows needs a shell, because npm is a .cmd file there.
  if (npm?.endsWith(".js")) return runProgram(process.execPath, [npm, ...args], { cwd });
  return runProgram("npm", args, { cwd, shell: process.platform === "win32" });
}
