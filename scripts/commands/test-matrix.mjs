import { runMatrix } from "../matrix/run-matrix.mjs";

/**
 * `npm run test:matrix`: runs the tests that need Lisp with several pairs of SBCL and Swank, and writes their table in docs/compatibility.md.
 *
 * @param {readonly string[]} args names of pairs (default: all), and test files or folders as for `npm test`
 * @returns {Promise<number>} the exit code
 */
export function run(args) {
  return runMatrix(args);
}
