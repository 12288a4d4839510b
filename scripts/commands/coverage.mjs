import { ensureDependencies } from "../setup/dependencies.mjs";
import { inRepository } from "../setup/paths.mjs";
import { runInstalled } from "../setup/run-program.mjs";

/**
 * `npm run coverage`: runs `npm test` under c8, which also measures child processes such as swank-mcp.
 *
 * @param {readonly string[]} args as for `npm test`
 * @returns {Promise<number>} the exit code
 */
export async function run(args) {
  await ensureDependencies();
  const test = [process.execPath, inRepository("scripts/run.mjs"), "test", ...args];
  return runInstalled("c8/bin/c8.js", test, { stdio: ["ignore", "inherit", "inherit"] });
}
