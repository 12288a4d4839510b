import Mocha from "mocha";

/**
 * Mocha's spec reporter, which also names the failed tests at its end, below their stacks, and tells the process that has started mocha how many
 * tests passed and failed.
 */
export default class CountingReporter extends Mocha.reporters.Spec {
  /**
   * @param {Mocha.Runner} runner
   * @param {Mocha.MochaOptions} options
   */
  constructor(runner, options) {
    super(runner, options);
    runner.once(Mocha.Runner.constants.EVENT_RUN_END, () => {
      const { passes = 0, failures = 0 } = this.runner.stats ?? {};
      for (const test of this.failures) process.stdout.write(`Failed: ${test.fullTitle()}\n`);
      process.send?.({ passed: passes, failed: failures });
    });
  }
}
