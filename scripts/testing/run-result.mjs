/** @typedef {{ passed: number, failed: number }} Counts */
/** @typedef {{ counts: Counts, why?: string }} Result */

/**
 * The line that test runs and checks close with.
 *
 * @param {Counts} counts
 */
export function closingLine({ passed, failed }) {
  return `${passed} passed, ${failed} failed`;
}

/**
 * The truth about a test run: one that crashed, ran nothing, or failed after its last test has failed.
 *
 * @param {number} exitCode of the test runner
 * @param {Counts | undefined} counts as the reporter sent them; `undefined` when it never came to its end
 * @returns {Result} `why` is set when the runner itself counted no failure
 */
export function runResult(exitCode, counts) {
  if (counts === undefined) {
    return {
      counts: { passed: 0, failed: 1 },
      why: `The test run ended before its tests did (exit code ${exitCode}).`,
    };
  }
  if (counts.passed + counts.failed === 0) return { counts: { passed: 0, failed: 1 }, why: "No test ran." };
  if (counts.failed === 0 && exitCode !== 0) {
    return {
      counts: { ...counts, failed: 1 },
      why: `Every test passed, yet the test run ended with exit code ${exitCode}.`,
    };
  }
  return { counts };
}

/**
 * The result of several runs: the sums, and a line for each reason that one gives.
 *
 * @param {readonly Result[]} results
 * @returns {Result}
 */
export function addResults(results) {
  const sum = (/** @type {keyof Counts} */ name) => results.reduce((total, { counts }) => total + counts[name], 0);
  const counts = { passed: sum("passed"), failed: sum("failed") };
  const reasons = results.flatMap(({ why }) => (why === undefined ? [] : [why]));
  return reasons.length === 0 ? { counts } : { counts, why: reasons.join("\n") };
}
