/** @typedef {{ passed: number, failed: number }} Counts */
/** @typedef {{ counts: Counts, why?: string }} Result */

const NOTHING_RAN = { counts: { passed: 0, failed: 1 }, why: "No test ran." };

/**
 * Returns the last line of test runs and checks.
 *
 * @param {Counts} counts
 */
export function closingLine({ passed, failed }) {
  return `${passed} passed, ${failed} failed`;
}

/**
 * Returns the result of a test run. A run that crashed, ran no test, or failed after its last test has failed.
 *
 * @param {number} exitCode of the test runner
 * @param {Counts | undefined} counts as sent by the reporter; `undefined` if it did not reach the end
 * @param {{ mayBeEmpty?: boolean }} [options] `mayBeEmpty`: accepts a part of a run whose files have no test for this platform
 * @returns {Result} `why` is set when the runner itself counted no failure
 */
export function runResult(exitCode, counts, { mayBeEmpty = false } = {}) {
  if (counts === undefined) {
    return {
      counts: { passed: 0, failed: 1 },
      why: `The test run ended before its tests did (exit code ${exitCode}).`,
    };
  }
  if (counts.passed + counts.failed === 0 && !mayBeEmpty) return NOTHING_RAN;
  if (counts.failed === 0 && exitCode !== 0) {
    return {
      counts: { ...counts, failed: 1 },
      why: `Every test passed, yet the test run ended with exit code ${exitCode}.`,
    };
  }
  return { counts };
}

/**
 * Returns the result of several runs: the sums, and one line for each reason.
 *
 * @param {readonly Result[]} results
 * @returns {Result}
 */
export function addResults(results) {
  const sum = (/** @type {keyof Counts} */ name) => results.reduce((total, { counts }) => total + counts[name], 0);
  const counts = { passed: sum("passed"), failed: sum("failed") };
  if (counts.passed + counts.failed === 0) return NOTHING_RAN;
  const reasons = results.flatMap(({ why }) => (why === undefined ? [] : [why]));
  return reasons.length === 0 ? { counts } : { counts, why: reasons.join("\n") };
}
