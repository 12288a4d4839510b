import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { inRepository } from "./paths.mjs";

/**
 * The Lisp libraries whose code some tests examine.
 *
 * @type {readonly import("./lisp-instructions.mjs").Part[]}
 */
const LIBRARIES = ["cl-ppcre", "hunchentoot"];

/**
 * Returns those libraries that neither ASDF nor Quicklisp finds. Needs the build.
 *
 * @param {NodeJS.ProcessEnv} [env] in which the launcher also reads `SBCL`
 * @returns {Promise<import("./lisp-instructions.mjs").Part[]>} all of them if there is no SBCL that could load them
 */
export async function missingLibraries(env = process.env) {
  const { findLisp } = await import("swank-client/launch");
  const lisp = await findLisp({ env }).catch(() => undefined);
  if (lisp === undefined) return [...LIBRARIES];
  const args = ["--noinform", "--no-sysinit", "--no-userinit", "--non-interactive"];
  const script = ["--load", inRepository("scripts/setup/find-libraries.lisp")];
  const { stdout } = await promisify(execFile)(lisp.executable, [...args, ...script], {
    env: { ...env, LIBRARIES: LIBRARIES.join(" ") },
  });
  return LIBRARIES.filter((library) => stdout.split("\n").includes(library));
}
