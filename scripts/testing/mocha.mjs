import { setTimeout as pause } from "node:timers/promises";
import Mocha from "mocha";

/** Milliseconds after the last test within which everything must be closed. */
const GRACE = Number(process.env["TEST_GRACE"]) || 10_000;

/** @type {readonly string[]} */
let before = [];

/** What keeps the process running, besides what kept it running before the tests. */
function leftOpen() {
  const known = [...before];
  return process.getActiveResourcesInfo().filter((kind) => {
    const at = known.indexOf(kind);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
}

/** Root hooks of mocha: the tests of a file, or of a run in one process, fail if they leave something open. */
export const mochaHooks = {
  async beforeAll() {
    // Mocha sets a timer for hooks that wait, here as in the other hook.
    await pause(0);
    before = process.getActiveResourcesInfo();
  },
  /** @this {import("mocha").Context} */
  async afterAll() {
    this.timeout(2 * GRACE);
    await pause(0);
    for (const end = Date.now() + GRACE; leftOpen().length > 0 && Date.now() < end; )
      await pause(20, undefined, { ref: false });
    if (leftOpen().length > 0)
      throw new Error(`The tests are over, and have left something open: ${leftOpen().join(", ")}`);
  },
};

/**
 * Mocha's spec reporter, which also names the failed tests at its end, below their stacks, and tells the process that has started mocha how many
 * tests passed and failed.
 */
export default class CountingReporter extends Mocha.reporters.Spec {
  /** @param {Mocha.Runner} runner @param {Mocha.MochaOptions} options */
  constructor(runner, options) {
    super(runner, options);
    runner.once(Mocha.Runner.constants.EVENT_RUN_END, () => {
      const { passes = 0, failures = 0 } = this.runner.stats ?? {};
      for (const test of this.failures) process.stdout.write(`Failed: ${test.fullTitle()}\n`);
      process.send?.({ passed: passes, failed: failures });
    });
  }
}
