import { runInstalled } from "../setup/run-program.mjs";

/** @typedef {import("./run-result.mjs").Counts} Counts */

/**
 * Runs mocha with our reporter.
 *
 * @param {readonly string[]} args
 * @param {"inherit" | "ignore"} [output] where the report goes
 * @returns {Promise<{ exitCode: number, counts: Counts | undefined }>} no counts when mocha did not come to its end
 */
export async function runMocha(args, output = "inherit") {
  /** @type {Counts | undefined} */
  let counts;
  const exitCode = await runInstalled(
    "mocha/bin/mocha.js",
    ["--reporter", "scripts/testing/reporter.mjs", ...args],
    { stdio: ["ignore", output, output, "ipc"] },
    (child) =>
      child.on("message", (message) => {
        counts = /** @type {Counts} */ (message);
      }),
  );
  return { exitCode, counts };
}
