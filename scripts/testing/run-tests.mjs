import { readFile } from "node:fs/promises";
import { build } from "../setup/build.mjs";
import { ensureDependencies } from "../setup/dependencies.mjs";
import { ensureLispAndEmacs } from "../setup/ensure-lisp.mjs";
import { inRepository } from "../setup/paths.mjs";
import { mochaArguments } from "./mocha-arguments.mjs";
import { runMocha } from "./run-mocha.mjs";
import { closingLine, runResult } from "./run-result.mjs";

/**
 * Sets up, builds, and runs tests, closing with a line `N passed, N failed`.
 *
 * @param {readonly string[]} args test files to run instead of all, and options of mocha
 * @param {string} configFile mocha's configuration, a file in the repository's root
 * @returns {Promise<number>} the exit code
 */
export async function runTests(args, configFile) {
  const { counts, why } = await setUpAndTest(args, configFile).catch((error) => ({
    counts: { passed: 0, failed: 1 },
    why: error.name === "SetupError" ? error.message : error.stack,
  }));
  if (why !== undefined) process.stderr.write(`\n${why}\n`);
  process.stdout.write(`${closingLine(counts)}\n`);
  return counts.failed === 0 ? 0 : 1;
}

/**
 * @param {readonly string[]} args
 * @param {string} configFile
 * @returns {Promise<{ counts: import("./run-result.mjs").Counts, why?: string }>}
 */
async function setUpAndTest(args, configFile) {
  await ensureDependencies();
  await build();
  await ensureLispAndEmacs();
  const config = JSON.parse(await readFile(inRepository(configFile), "utf8"));
  const { exitCode, counts } = await runMocha(mochaArguments(args, configFile, config));
  return runResult(exitCode, counts);
}
