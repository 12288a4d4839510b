import { runInstalled } from "../setup/run-program.mjs";

/** @typedef {import("./run-result.mjs").Counts} Counts */

/**
 * Runs mocha with our reporter.
 *
 * @param {readonly string[]} args
 * @returns {Promise<{ exitCode: number, counts: Counts | undefined }>} no counts when mocha did not come to its end
 */
export async function runMocha(args) {
  /** @type {Counts | undefined} */
  let counts;
  const exitCode = await runInstalled(
    "mocha/bin/mocha.js",
    args,
    { stdio: ["ignore", "inherit", "inherit", "ipc"] },
    (child) => child.on("message", (message) => (counts = /** @type {Counts} */ (message))),
  );
  return { exitCode, counts };
}
