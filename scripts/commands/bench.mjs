import { build } from "../setup/build.mjs";
import { ensureDependencies } from "../setup/dependencies.mjs";
import { ensureForTests, ensureLisp } from "../setup/ensure-lisp.mjs";

/**
 * `npm run bench`: measures the figures of bench/ and writes them as a table and as bench/results.json. `npm run bench -- quick` takes two minutes.
 *
 * @param {readonly string[]} args groups of figures, all if there are none; `quick` for fewer rounds
 * @returns {Promise<number>} the exit code
 */
export async function run(args) {
  await ensureDependencies();
  await build();
  // The program that serves is Hunchentoot's.
  await (args.length === 0 || args.includes("serving") ? ensureForTests() : ensureLisp());
  const { main } = await import("../../bench/main.mjs");
  return main(args);
}
