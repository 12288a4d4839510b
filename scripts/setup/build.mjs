import { bundle } from "../bundle/bundle.mjs";
import { pruneBuild } from "./prune-build.mjs";
import { runInstalled } from "./run-program.mjs";
import { SetupError } from "./setup-error.mjs";

/** The package whose program is bundled. */
const PROGRAM = "packages/swank-mcp";

/**
 * Compiles changed files, removes compiled files whose source is gone, and bundles the program swank-mcp.
 *
 * @param {readonly string[]} projects folders with a tsconfig.json, their references included; all if empty
 * @throws {SetupError} if the compiler reports an error
 */
export async function build(projects = []) {
  await pruneBuild();
  const code = await runInstalled("typescript/bin/tsc", ["-b", ...projects]);
  if (code !== 0) throw new SetupError("The build failed. The compiler's errors are above.");
  if (projects.length === 0 || projects.includes(PROGRAM)) await bundle();
}
