import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "../setup/build.mjs";
import { ensureDependencies } from "../setup/dependencies.mjs";
import { inRepository } from "../setup/paths.mjs";
import { closingLine, countTests } from "../testing/run-tests.mjs";
import { choosePairs, PAIRS, pairEnvironment } from "./pairs.mjs";
import { providePair } from "./provide-pair.mjs";
import { resultsTable, withResults } from "./results-table.mjs";
import { sbclVersion, swankVersion } from "./versions.mjs";

const PAGE = inRepository("docs/compatibility.md");

/**
 * Runs tests with pairs of SBCL and Swank, one pair after the other, and writes the table of docs/compatibility.md. A pair that cannot be
 * had counts as one failure, and its row stays as it was.
 *
 * @param {readonly string[]} args names of pairs, test files and options of mocha
 * @returns {Promise<number>} the exit code
 */
export async function runMatrix(args) {
  await ensureDependencies();
  await build();
  const { pairs, tests, isWhole } = choosePairs(args);
  const lisps = await lispsFolder();
  const scope = isWhole ? "all" : `${tests.length} named`;
  /** @type {import("./results-table.mjs").Row[]} */
  const rows = [];
  for (const pair of pairs) {
    const row = await tested(pair, lisps, tests);
    if (row !== undefined) rows.push({ ...row, tests: scope });
  }
  if (rows.length > 0) await writeTable(rows);
  const sum = (/** @type {"passed" | "failed"} */ key) => rows.reduce((total, row) => total + row[key], 0);
  const failed = sum("failed") + pairs.length - rows.length;
  process.stdout.write(`\n${resultsTable(rows)}\n${closingLine({ passed: sum("passed"), failed })}\n`);
  return failed === 0 ? 0 : 1;
}

/** The folder of the pairs, in the user's cache folder. */
async function lispsFolder() {
  const { defaultCacheFolder } = await import("../../packages/swank-client/dist/files/own.js");
  return join(defaultCacheFolder(), "lisps");
}

/**
 * @param {import("./pairs.mjs").Pair} pair
 * @param {string} lisps
 * @param {readonly string[]} tests
 */
async function tested(pair, lisps, tests) {
  try {
    await providePair(pair, lisps);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "SetupError") throw error;
    process.stderr.write(`\n${pair.name}: ${error.message}\n`);
    return undefined;
  }
  const environment = pairEnvironment(pair, lisps);
  const [sbcl, swank] = [await sbclVersion(environment.SBCL), await swankVersion(environment.SWANK)];
  process.stdout.write(`\n${pair.name}: SBCL ${sbcl}, Swank ${swank}\n`);
  // The processes that run the tests inherit the variables.
  Object.assign(process.env, environment);
  return { pair: pair.name, sbcl, swank, ...(await countTests(tests)) };
}

/** @param {readonly import("./results-table.mjs").Row[]} rows */
async function writeTable(rows) {
  const names = PAIRS.map(({ name }) => name);
  await writeFile(PAGE, withResults(await readFile(PAGE, "utf8"), rows, names));
}
