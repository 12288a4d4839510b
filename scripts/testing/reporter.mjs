import Mocha from "mocha";

/** How long the process may live after the last test, in milliseconds. Longer means that something was left open. */
const GRACE = 10_000;

/**
 * Mocha's spec reporter that also sends the counts to the process that started the run, and ends a run that hangs, which
 * it counts as a failure. `--reporter-option grace=N` says after how many milliseconds it does.
 */
export default class CountingReporter extends Mocha.reporters.Spec {
  /**
   * @param {Mocha.Runner} runner
   * @param {Mocha.MochaOptions} options
   */
  constructor(runner, options) {
    super(runner, options);
    const grace = Number(options.reporterOptions?.grace ?? GRACE);
    runner.once(Mocha.Runner.constants.EVENT_RUN_END, () => {
      const counts = { passed: runner.stats?.passes ?? 0, failed: runner.stats?.failures ?? 0 };
      process.send?.(counts);
      setTimeout(endHungRun, grace, counts).unref();
    });
  }
}

/** @param {import("./run-result.mjs").Counts} counts */
function endHungRun({ passed, failed }) {
  const open = process.getActiveResourcesInfo().join(", ");
  process.stderr.write(`The tests are over, but the process does not end. Still open: ${open}\n`);
  process.send?.({ passed, failed: failed + 1 }, () => process.exit(1));
}
