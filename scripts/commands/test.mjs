import { runTests } from "../testing/run-tests.mjs";

/**
 * `npm test`: every test except those of test/slow.
 *
 * @param {readonly string[]} args test files or folders (default: all), and options of mocha
 * @returns {Promise<number>} the exit code
 */
export function run(args) {
  return runTests(args);
}
