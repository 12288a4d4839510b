import { relative } from "node:path";
import { format } from "node:util";
import Mocha from "mocha";

const { Base, Spec } = Mocha.reporters;
const { EVENT_RUN_END, EVENT_SUITE_BEGIN, EVENT_SUITE_END, EVENT_TEST_BEGIN, EVENT_HOOK_BEGIN } =
  Mocha.Runner.constants;

/** Maximum lifetime of the process after the last test, in milliseconds. A longer one means that a test left something open. */
const GRACE = 10_000;

/**
 * Mocha's spec reporter, which also sends the current test and the final results to the parent process, and ends a hung run as a failure.
 *
 * Options (`--reporter-option NAME=VALUE`): `grace`: milliseconds after which a run counts as hung; `failures=sent`: leaves
 * printing the failures to the parent process, which prints those of several runs together.
 */
export default class CountingReporter extends Spec {
  /** @type {Record<string, number>} */
  #seconds = {};

  /**
   * @param {Mocha.Runner} runner
   * @param {Mocha.MochaOptions} options
   */
  constructor(runner, options) {
    super(runner, options);
    const { grace = GRACE, failures } = options.reporterOptions ?? {};
    if (failures === "sent") this.epilogue = () => {};
    this.#measure(runner);
    for (const event of [EVENT_TEST_BEGIN, EVENT_HOOK_BEGIN]) {
      runner.on(event, (/** @type {Mocha.Runnable} */ runnable) => {
        process.send?.({ running: { file: sourceOf(runnable), title: runnable.fullTitle() } });
      });
    }
    runner.once(EVENT_RUN_END, () => {
      const results = this.#results();
      process.send?.({ results });
      // Nothing is open any more. Node 20 can loop for ever when it frees the environment, which this leaves out.
      process.once("beforeExit", () => process.exit());
      setTimeout(endHungRun, Number(grace), results).unref();
    });
  }

  /** @param {Mocha.Runner} runner */
  #measure(runner) {
    let start = 0;
    runner.on(EVENT_SUITE_BEGIN, ({ parent }) => {
      if (parent?.root) start = performance.now();
    });
    runner.on(EVENT_SUITE_END, (suite) => {
      if (!suite.parent?.root) return;
      const file = sourceOf(suite);
      this.#seconds[file] = (this.#seconds[file] ?? 0) + (performance.now() - start) / 1000;
    });
  }

  /** @returns {import("./run-mocha.mjs").Results} */
  #results() {
    const { passes = 0, failures = 0 } = this.runner.stats ?? {};
    const files = new Set(this.failures.map(sourceOf));
    return {
      counts: { passed: passes, failed: failures },
      failures: [...files].map((file) => ({
        file,
        text: listed(this.failures.filter((each) => sourceOf(each) === file)),
      })),
      seconds: this.#seconds,
    };
  }
}

/** @param {{ file?: string | undefined }} runnable */
function sourceOf({ file }) {
  return file === undefined ? "" : relative(process.cwd(), file).replaceAll("\\", "/");
}

/** @param {Mocha.Test[]} failures */
function listed(failures) {
  const { consoleLog } = Base;
  let text = "";
  Base.consoleLog = (...args) => {
    text += `${format(...args)}\n`;
  };
  Base.list(failures);
  Base.consoleLog = consoleLog;
  return text;
}

/** @param {import("./run-mocha.mjs").Results} results */
function endHungRun({ counts, ...results }) {
  const open = process.getActiveResourcesInfo().join(", ");
  const why = `The tests are over, but the process does not end. Still open: ${open}`;
  process.stderr.write(`${why}\n`);
  const failed = counts.failed + 1;
  process.send?.({ results: { ...results, counts: { ...counts, failed }, why } }, () => process.exit(1));
}
