import { missingEmacs } from "./missing-emacs.mjs";
import { missingFiveam } from "./missing-fiveam.mjs";
import { missingLibraries } from "./missing-libraries.mjs";
import { missingLisp } from "./missing-lisp.mjs";

/**
 * Returns what is missing for the tests. Needs the build.
 *
 * @param {NodeJS.ProcessEnv} [env] in which the launcher also reads `SBCL` and `SWANK`
 * @returns {Promise<import("./lisp-instructions.mjs").Part[]>} without SBCL, all Lisp libraries: nothing could load them
 * @throws {SetupError} as `missingLisp` does
 */
export async function missingForTests(env = process.env) {
  return [
    ...(await missingLisp({}, env)),
    ...(await missingFiveam(env)),
    ...(await missingLibraries(env)),
    ...(await missingEmacs(env)),
  ];
}
