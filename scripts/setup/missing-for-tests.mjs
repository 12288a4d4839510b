import { missingEmacs } from "./missing-emacs.mjs";
import { missingFiveam } from "./missing-fiveam.mjs";
import { missingLibraries } from "./missing-libraries.mjs";
import { missingLisp } from "./missing-lisp.mjs";

/**
 * Returns what is missing for tests with these needs. Needs the build.
 *
 * @param {{ fiveam: boolean, libraries: boolean, emacs: boolean }} needs `emacs`: with SLIME
 * @param {NodeJS.ProcessEnv} [env] in which the launcher also reads `SBCL` and `SWANK`
 * @returns {Promise<import("./lisp-instructions.mjs").Part[]>} without SBCL, all Lisp libraries: nothing could load them
 * @throws {SetupError} as `missingLisp` does
 */
export async function missingForTests({ fiveam, libraries, emacs }, env = process.env) {
  return [
    ...(await missingLisp({}, env)),
    ...(fiveam ? await missingFiveam(env) : []),
    ...(libraries ? await missingLibraries(env) : []),
    ...(emacs ? await missingEmacs(env) : []),
  ];
}
