import { pruneBuild } from "./prune-build.mjs";
import { runInstalled } from "./run-program.mjs";
import { SetupError } from "./setup-error.mjs";

/**
 * Compiles what has changed, and removes what was compiled from files that are gone.
 *
 * @param {readonly string[]} projects folders with a tsconfig.json, their references included; none means all
 * @throws {SetupError} when something does not compile
 */
export async function build(projects = []) {
  await pruneBuild();
  const code = await runInstalled("typescript/bin/tsc", ["-b", ...projects]);
  if (code !== 0) throw new SetupError("The build failed; the compiler's own words are above.");
}
