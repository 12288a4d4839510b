import { execFile } from "node:child_process";
import { once } from "node:events";
import { access, readFile } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { promisify } from "node:util";
import { ALL_PARTS, debianPackages, lispInstructions, planLisp } from "./lisp-plan.mjs";
import { inRepository } from "./paths.mjs";
import { isOnPath, runProgram, SetupError } from "./programs.mjs";

/** @typedef {import("./lisp-plan.mjs").Part} Part */

/** @typedef {{ lisp?: string | undefined, swank?: string | undefined }} Named an sbcl program or a Swank folder instead of the default */

/**
 * Makes sure that SBCL and Swank are installed, and installs them if root or the user allows it.
 *
 * @param {Named} [named]
 * @throws {SetupError} with the installation commands for this system, if they are missing and were not installed
 */
export async function ensureLisp(named) {
  await ensure(() => missingLisp(named));
}

/**
 * Makes sure that SBCL, Swank and the other programs that some tests need are installed.
 *
 * @throws {SetupError} as `ensureLisp` does
 */
export async function ensureForTests() {
  await ensure(() => missingForTests());
}

/** @param {() => Promise<Part[]>} look */
async function ensure(look) {
  const machine = await describeMachine(await look());
  const plan = planLisp(machine);
  if (plan.action === "nothing") return;
  if (plan.action === "stop") throw new SetupError(plan.message);
  if (plan.ask && !(await agrees(plan.packages, plan.commands))) throw new SetupError(lispInstructions(machine));
  process.stderr.write(`Installing ${plan.packages.join(" and ")} ...\n`);
  await runAll(plan.commands);
  const missing = await look();
  if (missing.length > 0) throw new SetupError(lispInstructions({ ...machine, missing }));
}

/**
 * Installs the programs that the tests need with one apt-get, while npm installs its packages. Only as root on Debian, and if CI is set.
 * Otherwise, and if this fails, each command installs what it needs itself, or reports what is missing.
 */
export async function installForCi() {
  const namesOthers = ["SBCL", "SWANK", "SLIME"].some((name) => process.env[name]);
  if (!process.env["CI"] || process.getuid?.() !== 0 || namesOthers) return;
  const packages = debianPackages(ALL_PARTS);
  const status = promisify(execFile)("dpkg", ["--status", ...packages]);
  const isComplete = await status.then(
    () => true,
    () => false,
  );
  const plan = planLisp(await describeMachine(isComplete ? [] : ALL_PARTS));
  if (plan.action === "install") await runAll(plan.commands);
}

/** @param {readonly (readonly string[])[]} commands */
async function runAll(commands) {
  for (const [program = "", ...args] of commands) await runProgram(program, args);
}

/** @param {readonly Part[]} missing @returns {Promise<import("./lisp-plan.mjs").Machine>} */
async function describeMachine(missing) {
  return {
    platform: process.platform,
    osRelease: await readFile("/etc/os-release", "utf8").catch(() => ""),
    uid: process.getuid?.(),
    isTTY: process.stdin.isTTY === true && process.stderr.isTTY === true,
    hasSudo: isOnPath("sudo"),
    missing,
  };
}

/** @param {readonly string[]} packages @param {readonly (readonly string[])[]} commands */
async function agrees(packages, commands) {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const lines = commands.map((command) => `  ${command.join(" ")}\n`).join("");
    const question = terminal.question(`Missing: ${packages.join(" and ")}. Install with\n${lines}now? [y/N] `);
    // Ctrl-D and Ctrl-C mean no. They reject the question or, in older versions of Node, never settle it.
    const answer = await Promise.race([question.catch(() => ""), once(terminal, "close").then(() => "")]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}

/**
 * Returns which of SBCL and Swank are missing; the launcher's own code searches for them. Needs the build.
 *
 * @param {Named} named
 * @param {NodeJS.ProcessEnv} env in which the launcher also reads `SBCL` and `SWANK`
 * @returns {Promise<Part[]>}
 * @throws {SetupError} if a part that the user named is missing, because installing another one would not help
 */
export async function missingLisp({ lisp, swank } = {}, env = process.env) {
  const { findLisp, findSwank } = await import("swank-client/launch");
  const found = await Promise.all([
    isThere(() => findLisp({ lisp, env }), lisp ?? env["SBCL"]),
    isThere(() => findSwank({ swank, env }), swank ?? env["SWANK"]),
  ]);
  return /** @type {const} */ (["sbcl", "swank"]).filter((_, index) => !found[index]);
}

/** @param {() => Promise<unknown>} find @param {string | undefined} named */
async function isThere(find, named) {
  try {
    await find();
    return true;
  } catch (error) {
    const { SwankError } = await import("swank-client");
    if (!(error instanceof SwankError)) throw error;
    if (named) throw new SetupError(`${error.message}\n${error.remedy}`);
    return false;
  }
}

/**
 * Returns what is missing for the tests. Needs the build.
 *
 * @param {NodeJS.ProcessEnv} [env] in which the launcher also reads `SBCL` and `SWANK`
 * @returns {Promise<Part[]>} without SBCL, all Lisp libraries: nothing could load them
 * @throws {SetupError} as `missingLisp` does
 */
export async function missingForTests(env = process.env) {
  return [
    ...(await missingLisp({}, env)),
    ...(await missingLibraries(env)),
    ...(await missingEmacs(env)),
    ...(await missingBrowser(env)),
    ...missingOthers(env),
  ];
}

/**
 * The Lisp libraries that some tests use, or whose code they examine.
 *
 * @type {readonly Part[]}
 */
const LIBRARIES = ["fiveam", "cl-ppcre", "hunchentoot"];

/** Prints a line for each library that neither ASDF nor Quicklisp finds. */
const PRINT_MISSING = [
  '(require "asdf")',
  '(load (merge-pathnames "quicklisp/setup.lisp" (user-homedir-pathname)) :if-does-not-exist nil)',
  `(format t "~&~{~a~%~}" (remove-if (lambda (name) (asdf:find-system name nil)) '(${LIBRARIES.map((name) => `"${name}"`).join(" ")})))`,
];

/** @param {NodeJS.ProcessEnv} env */
async function missingLibraries(env) {
  const { findLisp } = await import("swank-client/launch");
  const lisp = await findLisp({ env }).catch(() => undefined);
  if (lisp === undefined) return LIBRARIES;
  const options = ["--noinform", "--no-sysinit", "--no-userinit", "--non-interactive"];
  const forms = PRINT_MISSING.flatMap((form) => ["--eval", form]);
  const { stdout } = await promisify(execFile)(lisp.executable, [...options, ...forms], { env });
  return LIBRARIES.filter((library) => stdout.split("\n").includes(library));
}

/**
 * Returns which of the other Lisps are missing that some tests need.
 *
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Part[]}
 */
export function missingOthers(env = process.env) {
  return isOnPath("ecl", env["PATH"]) ? [] : ["ecl"];
}

/**
 * Returns which of Emacs and SLIME are missing; some tests need them.
 *
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<Part[]>}
 */
export async function missingEmacs(env = process.env) {
  if (!["emacs", "emacsclient"].every((program) => isOnPath(program, env["PATH"]))) return ["emacs", "slime"];
  const { findEmacs } = await import("../../packages/swank-mcp/dist/doctor/emacs.js");
  return (await findEmacs(env))?.slime === undefined ? ["slime"] : [];
}

/**
 * Returns `chromium` if there is neither a browser on the PATH that the tests of the page can use, nor one that playwright has installed.
 *
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<Part[]>}
 */
export async function missingBrowser(env = process.env) {
  const names = JSON.parse(await readFile(inRepository("scripts/setup/browsers.json"), "utf8"));
  if (names.some((/** @type {string} */ name) => isOnPath(name, env["PATH"]))) return [];
  const { chromium } = await import("playwright-core");
  return access(chromium.executablePath()).then(
    () => [],
    () => ["chromium"],
  );
}
