import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { inRepository } from "./paths.mjs";

/**
 * Returns `fiveam` if FiveAM is missing, which the tests of the Lisp code use. Needs the build.
 *
 * @param {NodeJS.ProcessEnv} [env] in which the launcher also reads `SBCL`
 * @returns {Promise<import("./lisp-instructions.mjs").Part[]>} also `fiveam` if there is no SBCL that could load it
 */
export async function missingFiveam(env = process.env) {
  const { findLisp } = await import("swank-client/launch");
  const lisp = await findLisp({ env }).catch(() => undefined);
  if (lisp === undefined) return ["fiveam"];
  const args = ["--noinform", "--no-sysinit", "--no-userinit", "--non-interactive"];
  const script = ["--load", inRepository("scripts/setup/find-fiveam.lisp")];
  const found = promisify(execFile)(lisp.executable, [...args, ...script], { env });
  return found.then(
    () => [],
    () => /** @type {const} */ (["fiveam"]),
  );
}
