import { access, readFile } from "node:fs/promises";
import { build } from "../setup/build.mjs";
import { ensureDependencies } from "../setup/dependencies.mjs";
import { ensureForTests } from "../setup/ensure-lisp.mjs";
import { inRepository } from "../setup/paths.mjs";
import { checkNamedTests } from "./missing-files.mjs";
import { mochaArguments, separate } from "./mocha-arguments.mjs";
import { prepareLisps } from "./prepare-lisps.mjs";
import { runMocha } from "./run-mocha.mjs";
import { closingLine, runResult } from "./run-result.mjs";
import { runShards } from "./run-shards.mjs";
import { testEnvironment } from "./test-environment.mjs";
import { expandFolders, testFiles } from "./test-files.mjs";
import { testNeeds } from "./test-needs.mjs";

/**
 * Installs what the tests need, builds, runs the tests, and prints `N passed, N failed` as the last line.
 *
 * @param {readonly string[]} args test files or folders to run instead of all, and options of mocha
 * @param {string} configFile mocha's configuration, a file in the repository's root
 * @param {"side by side" | "one by one"} order with options of mocha, tests always run one by one
 * @returns {Promise<number>} the exit code
 */
export async function runTests(args, configFile, order) {
  const counts = await countTests(args, configFile, order);
  process.stdout.write(`${closingLine(counts)}\n`);
  return counts.failed === 0 ? 0 : 1;
}

/**
 * The same without the last line. A failure to run the tests is printed, and counts as a failed test.
 *
 * @param {readonly string[]} args
 * @param {string} configFile
 * @param {"side by side" | "one by one"} order
 * @returns {Promise<import("./run-result.mjs").Counts>}
 */
export async function countTests(args, configFile, order) {
  const { counts, why } = await setUpAndTest(args, configFile, order).catch((error) => ({
    counts: { passed: 0, failed: 1 },
    why: error.name === "SetupError" ? error.message : error.stack,
  }));
  if (why !== undefined) process.stderr.write(`\n${why}\n`);
  return counts;
}

/**
 * @param {readonly string[]} args
 * @param {string} configFile
 * @param {"side by side" | "one by one"} order
 * @returns {Promise<import("./run-result.mjs").Result>}
 */
async function setUpAndTest(args, configFile, order) {
  await ensureDependencies();
  await build();
  const config = JSON.parse(await readFile(inRepository(configFile), "utf8"));
  const all = await testFiles(config);
  const chosen = await expandFolders(args, all);
  await checkNamedTests(chosen, all, isTest);
  const { files, options } = separate(chosen);
  const needs = await Promise.all((files.length > 0 ? files : all).map((file) => testNeeds(file)));
  await setUpFor(needs);
  if (order === "side by side" && options.length === 0 && needs.length > 1) {
    await prepareLisps(needs);
    return runShards(needs, (some) => mochaArguments(some, configFile, config));
  }
  const { exitCode, results } = await runMocha(mochaArguments(chosen, configFile, config), { env: testEnvironment() });
  return runResult(exitCode, results?.counts);
}

/** @param {string} arg a source file, or a compiled one */
function isTest(arg) {
  const [file = arg] = separate([arg]).files;
  return access(inRepository(file)).then(
    () => true,
    () => false,
  );
}

/** @param {readonly import("./test-needs.mjs").TestFile[]} files */
async function setUpFor(files) {
  if (!files.some(({ lisp }) => lisp)) return;
  await ensureForTests({
    fiveam: files.some(({ fiveam }) => fiveam),
    libraries: files.some(({ libraries }) => libraries),
    emacs: files.some(({ emacs }) => emacs),
  });
}
