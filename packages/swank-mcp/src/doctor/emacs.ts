import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Milliseconds that Emacs has to say what it has. */
const PATIENCE = 30_000;

/**
 * Prints Emacs's version, and SLIME's folder or nothing: searches the system's folders and the user's packages, like an Emacs that the user
 * starts.
 */
const LOCATE_SLIME = `(progn
  (require 'package)
  (package-initialize)
  (let ((library (locate-library "slime")))
    (princ (format "%s\\n%s" emacs-version (if library (file-name-directory library) "")))))`;

/** An Emacs, with the folder of its SLIME if it has one. */
export interface EmacsInstallation {
  readonly version: string;
  readonly slime: string | undefined;
}

/** Looks for the first Emacs on the PATH and its SLIME; `undefined` if there is no Emacs that answers. */
export async function findEmacs(
  env: Readonly<Record<string, string | undefined>>,
): Promise<EmacsInstallation | undefined> {
  const options = { env: { ...env }, timeout: PATIENCE };
  const answer = await promisify(execFile)("emacs", ["--batch", "--eval", LOCATE_SLIME], options).catch(
    () => undefined,
  );
  const [version = "", slime = ""] = answer?.stdout.split("\n") ?? [];
  return version === "" ? undefined : { version, slime: slime === "" ? undefined : slime };
}
