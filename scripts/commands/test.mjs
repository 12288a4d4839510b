import { readFile } from "node:fs/promises";
import { build } from "../setup/build.mjs";
import { ensureDependencies } from "../setup/dependencies.mjs";
import { ensureLispAndEmacs } from "../setup/ensure-lisp.mjs";
import { inRepository } from "../setup/paths.mjs";
import { mochaArguments } from "../testing/mocha-arguments.mjs";
import { runMocha } from "../testing/run-mocha.mjs";
import { closingLine, runResult } from "../testing/run-result.mjs";

/**
 * `npm test`: sets up, builds, and runs every test, closing with a line `N passed, N failed`.
 *
 * @param {readonly string[]} args test files to run instead of all, and options of mocha
 * @returns {Promise<number>} the exit code
 */
export async function run(args) {
  const { counts, why } = await setUpAndTest(args).catch((error) => ({
    counts: { passed: 0, failed: 1 },
    why: error.name === "SetupError" ? error.message : error.stack,
  }));
  if (why !== undefined) process.stderr.write(`\n${why}\n`);
  process.stdout.write(`${closingLine(counts)}\n`);
  return counts.failed === 0 ? 0 : 1;
}

/**
 * @param {readonly string[]} args
 * @returns {Promise<{ counts: import("../testing/run-result.mjs").Counts, why?: string }>}
 */
async function setUpAndTest(args) {
  await ensureDependencies();
  await build();
  await ensureLispAndEmacs();
  const config = JSON.parse(await readFile(inRepository(".mocharc.json"), "utf8"));
  const { exitCode, counts } = await runMocha(mochaArguments(args, config));
  return runResult(exitCode, counts);
}
