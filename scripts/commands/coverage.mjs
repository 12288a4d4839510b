import { ensureDependencies } from "../setup/dependencies.mjs";
import { inRepository } from "../setup/paths.mjs";
import { runInstalled } from "../setup/run-program.mjs";

/**
 * `npm run coverage`: `npm test`, measured by c8, with child processes such as swank-mcp counted in.
 *
 * @param {readonly string[]} args as for `npm test`
 * @returns {Promise<number>} the exit code
 */
export async function run(args) {
  await ensureDependencies();
  const test = [process.execPath, inRepository("scripts/run.mjs"), "test", ...args];
  return runInstalled("c8/bin/c8.js", test, { stdio: ["ignore", "inherit", "inherit"] });
}
