import { availableParallelism } from "node:os";
import { runMocha } from "./run-mocha.mjs";
import { addResults, runResult } from "./run-result.mjs";

/**
 * Runs the test files that start no programs with mocha's own `--parallel`, and then the others, one after the
 * other in one process: they share cached cores, and a busy machine makes them wait.
 *
 * @param {readonly import("./test-needs.mjs").TestFile[]} files
 * @param {(args: readonly string[]) => string[]} mochaArguments gives all arguments from options and files
 * @param {"inherit" | "ignore"} [output] where the reports go
 * @returns {Promise<import("./run-result.mjs").Result>} the sums
 */
export async function runApart(files, mochaArguments, output) {
  const pure = files.filter(({ live }) => !live).map(({ file }) => file);
  const live = files.filter((file) => file.live).map(({ file }) => file);
  // One file gains nothing by a worker, which mocha ends without a word about what was left open.
  const jobs = `${Math.max(availableParallelism(), 2)}`;
  const parallel = pure.length > 1 ? ["--parallel", "--jobs", jobs, ...pure] : pure;
  const results = [];
  for (const group of [parallel, live].filter(({ length }) => length > 0)) {
    const { exitCode, counts } = await runMocha(mochaArguments(group), output);
    results.push(runResult(exitCode, counts));
  }
  return addResults(results);
}
