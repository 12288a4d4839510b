import Mocha from "mocha";

/** Mocha's spec reporter, which also tells the process that has started mocha how many tests passed and failed. */
export default class CountingReporter extends Mocha.reporters.Spec {
  /**
   * @param {Mocha.Runner} runner
   * @param {Mocha.MochaOptions} options
   */
  constructor(runner, options) {
    super(runner, options);
    runner.once(Mocha.Runner.constants.EVENT_RUN_END, () => {
      const { passes = 0, failures = 0 } = this.runner.stats ?? {};
      process.send?.({ passed: passes, failed: failures });
    });
  }
}
