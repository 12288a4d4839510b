import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { isOnPath } from "./on-path.mjs";
import { inRepository } from "./paths.mjs";

/**
 * Returns which of Emacs and SLIME are missing; some tests need them.
 *
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<import("./lisp-instructions.mjs").Part[]>}
 */
export async function missingEmacs(env = process.env) {
  if (!["emacs", "emacsclient"].every((program) => isOnPath(program, env["PATH"]))) return ["emacs", "slime"];
  const { stdout } = await promisify(execFile)(
    "emacs",
    ["--batch", "-l", inRepository("scripts/setup/locate-slime.el")],
    {
      env,
    },
  );
  return stdout === "" ? ["slime"] : [];
}
