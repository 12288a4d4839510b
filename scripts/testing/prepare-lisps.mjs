import { inRepository } from "../setup/paths.mjs";
import { runProgram } from "../setup/run-program.mjs";
import { SetupError } from "../setup/setup-error.mjs";
import { testEnvironment } from "./test-environment.mjs";

/**
 * Builds the cores and compiled files that several test files share, so that test files can run in parallel.
 * Takes a second or two if an earlier run has built them.
 *
 * @param {readonly import("./test-needs.mjs").TestFile[]} files
 * @throws {SetupError} if a build fails; the reason is printed
 */
export async function prepareLisps(files) {
  if (!files.some(({ lisp }) => lisp)) return;
  const parts = files.some(({ emacs }) => emacs) ? ["emacs"] : [];
  const args = [inRepository("test/dist/support/prepare.js"), ...parts];
  const code = await runProgram(process.execPath, args, { env: testEnvironment() });
  if (code !== 0) throw new SetupError("The cores that the tests start from could not be built; see above.");
}
