import Mocha from "mocha";

/** How long after the last test the process may live, in milliseconds. Longer means something was left open. */
const GRACE = 10_000;

/** Mocha's spec reporter that also sends the counts to the process that started the run, and ends a run that hangs. */
export default class CountingReporter extends Mocha.reporters.Spec {
  /**
   * @param {Mocha.Runner} runner
   * @param {Mocha.MochaOptions} options
   */
  constructor(runner, options) {
    super(runner, options);
    runner.once(Mocha.Runner.constants.EVENT_RUN_END, () => {
      process.send?.({ passed: runner.stats?.passes ?? 0, failed: runner.stats?.failures ?? 0 });
      setTimeout(endHungRun, GRACE).unref();
    });
  }
}

function endHungRun() {
  process.stderr.write(
    `The tests are over but the process lives on. Left open: ${process.getActiveResourcesInfo().join(", ")}\n`,
  );
  process.exit(1);
}
