import { debianPackages, lispInstructions } from "./lisp-instructions.mjs";
import { isDebianLike } from "./os-release.mjs";

/**
 * The facts about the machine on which the plan depends.
 *
 * @typedef {object} Machine
 * @property {NodeJS.Platform} platform
 * @property {string} osRelease text of /etc/os-release; empty if there is none
 * @property {number | undefined} uid 0 is root; `undefined` on Windows
 * @property {boolean} isTTY stdin and stderr are terminals, so the user can be asked
 * @property {boolean} hasSudo
 * @property {readonly import("./lisp-instructions.mjs").Part[]} missing
 */

/**
 * How to handle missing parts: do nothing, run commands (after asking if `ask` is set), or stop with a message.
 *
 * @typedef {{ action: "nothing" }
 *   | { action: "install", ask: boolean, packages: string[], commands: string[][] }
 *   | { action: "stop", message: string }} LispPlan
 */

/**
 * Decides how to handle missing parts.
 *
 * @param {Machine} machine
 * @returns {LispPlan}
 */
export function planLisp(machine) {
  const { missing, uid } = machine;
  if (missing.length === 0) return { action: "nothing" };
  const packages = debianPackages(missing);
  const isRoot = uid === 0;
  const mayInstall = isRoot || (machine.isTTY && machine.hasSudo);
  if (machine.platform !== "linux" || !isDebianLike(machine.osRelease) || !mayInstall) {
    return { action: "stop", message: lispInstructions(machine) };
  }
  return { action: "install", ask: !isRoot, packages, commands: aptCommands(packages, isRoot) };
}

/**
 * @param {readonly string[]} packages
 * @param {boolean} isRoot
 */
function aptCommands(packages, isRoot) {
  // `env` sets the variable after sudo, which drops the caller's environment.
  const prefix = [...(isRoot ? [] : ["sudo"]), "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"];
  return [
    [...prefix, "update"],
    [...prefix, "install", "-y", "--no-install-recommends", ...packages],
  ];
}
