import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { promisify } from "node:util";
import { ensureLisp } from "../setup/lisp.mjs";
import { inRepository } from "../setup/paths.mjs";

/** The checked systems: those of swank-client. */
const ASD = inRepository("packages/swank-client/lisp/swank-client.asd");

/** Loads Swank without printing the compiler's warnings. */
const LOAD_SWANK = `(handler-bind ((warning (function muffle-warning)))
  (load (merge-pathnames "swank-loader.lisp" (sb-ext:parse-native-namestring (sb-ext:posix-getenv "SWANK_FOLDER"))))
  (funcall (intern "INIT" "SWANK-LOADER") :quiet t))`;

/**
 * Compiles the Lisp code file by file, with the default SBCL and Swank or those that the environment variables SBCL and SWANK name.
 *
 * @param {string} [asd] the file that defines the systems
 * @returns {Promise<string[]>} a line for each warning, style warnings included, and for each definition without a docstring
 */
export async function checkLispSystem(asd = ASD) {
  await ensureLisp();
  const { findLisp, findSwank } = await import("swank-client/launch");
  const [lisp, swank] = await Promise.all([findLisp(), findSwank()]);
  const folder = await mkdtemp(join(tmpdir(), "swank-client-check-"));
  const options = ["--noinform", "--no-sysinit", "--no-userinit", "--non-interactive"];
  const args = ["--eval", LOAD_SWANK, "--load", inRepository("scripts/checks/lisp-system.lisp"), asd, folder + sep];
  const env = { ...process.env, SWANK_FOLDER: swank + sep };
  try {
    await promisify(execFile)(lisp.executable, [...options, ...args], { env });
    return [];
  } catch (error) {
    const output = error instanceof Error && "stdout" in error ? `${error.stdout}` : String(error);
    return output.trim() === "" ? [`SBCL printed nothing: ${error}`] : output.trim().split("\n");
  } finally {
    await rm(folder, { recursive: true });
  }
}
