import { pruneBuild } from "./prune-build.mjs";
import { runInstalled } from "./run-program.mjs";
import { SetupError } from "./setup-error.mjs";

/**
 * Compiles changed files, and removes compiled files whose source is gone.
 *
 * @param {readonly string[]} projects folders with a tsconfig.json, their references included; all if empty
 * @throws {SetupError} if the compiler reports an error
 */
export async function build(projects = []) {
  await pruneBuild();
  const code = await runInstalled("typescript/bin/tsc", ["-b", ...projects]);
  if (code !== 0) throw new SetupError("The build failed. The compiler's errors are above.");
}
