import { readFile } from "node:fs/promises";
import { inRepository } from "./paths.mjs";
import { runProgram } from "./run-program.mjs";
import { SetupError } from "./setup-error.mjs";

/** @typedef {{ packages: Record<string, { version?: string, integrity?: string, link?: boolean, optional?: boolean }> }} Lockfile */

/**
 * Installs what package-lock.json names, unless exactly that is there already.
 *
 * @throws {SetupError} when npm fails
 */
export async function ensureDependencies() {
  const wanted = await readLockfile("package-lock.json");
  const installed = await readLockfile("node_modules/.package-lock.json");
  if (wanted && installed && isInstalled(wanted, installed)) return;
  process.stderr.write("Installing npm packages (npm ci) ...\n");
  const code = await runNpm(["ci", "--include=dev", "--no-audit", "--no-fund"]);
  if (code !== 0)
    throw new SetupError("npm ci failed; its own words are above. Mend that and run the same command again.");
}

/**
 * Whether an installation (npm's own record of it, node_modules/.package-lock.json) is what a lockfile asks for.
 * Versions are compared instead of file times, which a checkout changes without changing any package.
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
 * @returns {Promise<Lockfile | undefined>} `undefined` when it is missing or damaged, which `npm ci` then mends or names
 */
async function readLockfile(path) {
  try {
    return JSON.parse(await readFile(inRepository(path), "utf8"));
  } catch {
    return undefined;
  }
}

/** @param {readonly string[]} args */
function runNpm(args) {
  const npm = process.env["npm_execpath"];
  // Under `npm start` npm names its own script; on Windows the other way round needs a shell, as npm is a .cmd there.
  if (npm?.endsWith(".js")) return runProgram(process.execPath, [npm, ...args]);
  return runProgram("npm", args, { shell: process.platform === "win32" });
}
