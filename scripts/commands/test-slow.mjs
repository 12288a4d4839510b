import { runTests, SLOW } from "../testing/run-tests.mjs";

/**
 * `npm run test:slow`: the tests of test/slow, which take minutes or need root.
 *
 * @param {readonly string[]} args test files or folders (default: all), and options of mocha
 * @returns {Promise<number>} the exit code
 */
export function run(args) {
  return runTests(["--timeout", "3600000", ...args], [SLOW]);
}
