import { runInstalled } from "../setup/run-program.mjs";

/** @typedef {import("./run-result.mjs").Counts} Counts */
/** @typedef {{ file: string, text: string }} Failure the failures of one test file, as mocha prints them */
/**
 * @typedef {object} Results what the reporter sends
 * @property {Counts} counts
 * @property {readonly Failure[]} failures
 * @property {Readonly<Record<string, number>>} seconds how long each file took
 * @property {string} [why] the reason for a failure outside the tests
 */
/** @typedef {{ file: string, title: string }} Running the latest test or hook */
/** @typedef {{ exitCode: number, results?: Results | undefined, running?: Running | undefined, stalled: boolean }} MochaRun */
/**
 * @typedef {object} MochaSettings
 * @property {"inherit" | "ignore" | number} [output] where the report goes; a number is an open file
 * @property {Readonly<Record<string, string | undefined>>} [env]
 * @property {number} [patience] milliseconds without a new test after which the process is killed; never by default
 */

/**
 * Runs mocha with our reporter.
 *
 * @param {readonly string[]} args
 * @param {MochaSettings} [settings]
 * @returns {Promise<MochaRun>} no results if mocha ended before its tests did
 */
export async function runMocha(args, { output = "inherit", env = process.env, patience } = {}) {
  /** @type {{ results?: Results, running?: Running }} */
  let told = {};
  let stalled = false;
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const exitCode = await runInstalled(
    "mocha/bin/mocha.js",
    ["--reporter", "scripts/testing/reporter.mjs", ...args],
    { stdio: ["ignore", output, output, "ipc"], env },
    (child) => {
      const kill = () => {
        stalled = true;
        child.kill("SIGKILL");
      };
      const wait = () => {
        clearTimeout(timer);
        if (patience !== undefined) timer = setTimeout(kill, patience);
      };
      wait();
      child.on("message", (message) => {
        told = { ...told, .../** @type {typeof told} */ (message) };
        wait();
      });
    },
  ).finally(() => clearTimeout(timer));
  return { exitCode, stalled, ...told };
}
