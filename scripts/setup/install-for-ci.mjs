// Installs the programs that the tests need with one apt-get, while npm installs its packages. Only as root on Debian, and if CI is set.
// Otherwise, and if this fails, each command installs what it needs itself, or reports what is missing.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { ALL_PARTS, debianPackages } from "./lisp-instructions.mjs";
import { planLisp } from "./lisp-plan.mjs";
import { runProgram } from "./run-program.mjs";

/** Variables that name a program or library other than Debian's. */
const NAMED = ["SBCL", "SWANK", "SLIME"];

/** @param {import("./lisp-instructions.mjs").Part} part */
function isInstalled(part) {
  const { stdout } = spawnSync("dpkg", ["--status", ...debianPackages([part])], { encoding: "utf8" });
  return stdout.includes("\nStatus: install ok installed\n");
}

/** @returns {string[][]} */
function commands() {
  if (!process.env["CI"] || process.getuid?.() !== 0 || NAMED.some((name) => process.env[name])) return [];
  const osRelease = readFileSync("/etc/os-release", "utf8");
  const missing = ALL_PARTS.filter((part) => !isInstalled(part));
  const plan = planLisp({ platform: process.platform, osRelease, uid: 0, isTTY: false, hasSudo: false, missing });
  return plan.action === "install" ? plan.commands : [];
}

for (const [program = "", ...args] of commands()) await runProgram(program, args);
