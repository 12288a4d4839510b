import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { lispInstructions } from "./lisp-instructions.mjs";
import { planLisp } from "./lisp-plan.mjs";
import { missingForTests } from "./missing-for-tests.mjs";
import { missingLisp } from "./missing-lisp.mjs";
import { isOnPath } from "./on-path.mjs";
import { runProgram } from "./run-program.mjs";
import { SetupError } from "./setup-error.mjs";

/** @typedef {import("./lisp-instructions.mjs").Part} Part */

/**
 * Makes sure that SBCL and Swank are installed, and installs them if root or the user allows it.
 *
 * @param {{ lisp?: string | undefined, swank?: string | undefined }} [named] an sbcl program or a Swank folder instead of the default
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
  for (const [program = "", ...args] of plan.commands) await runProgram(program, args);
  const missing = await look();
  if (missing.length > 0) throw new SetupError(lispInstructions({ ...machine, missing }));
}

/**
 * @param {Part[]} missing
 * @returns {Promise<import("./lisp-plan.mjs").Machine>}
 */
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

/**
 * @param {readonly string[]} packages
 * @param {readonly (readonly string[])[]} commands
 */
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
