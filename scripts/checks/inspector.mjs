// The MCP Inspector, a client that is not ours, lists the tools and calls them. Fetched for the occasion: it is larger than this repository.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ensureLisp } from "../setup/ensure-lisp.mjs";
import { inRepository } from "../setup/paths.mjs";

const INSPECTOR = "@modelcontextprotocol/inspector@2.12.0";
const SERVER = [process.execPath, inRepository("node_modules/.bin/swank-mcp")];

/** What is asked, and what the answer must hold. */
const QUESTIONS = [
  { args: ["--method", "tools/list", "--strict"], expected: '"evaluate-lisp"' },
  {
    args: ["--method", "tools/call", "--tool-name", "evaluate-lisp", "--tool-arg", "code=(+ 1 2)"],
    expected: '"=> 3"',
  },
  { args: ["--method", "tools/call", "--tool-name", "lisp-status"], expected: '"implementation": "SBCL"' },
];

/**
 * A sentence for each question that is not answered as it should be.
 *
 * @returns {Promise<string[]>}
 */
export async function checkInspector() {
  await ensureLisp();
  const problems = [];
  for (const question of QUESTIONS) problems.push(...(await problemOf(question)));
  return problems;
}

/** @param {typeof QUESTIONS[number]} question */
async function problemOf({ args, expected }) {
  try {
    const { stdout } = await promisify(execFile)("npx", ["-y", INSPECTOR, "--cli", ...SERVER, ...args]);
    return stdout.includes(expected)
      ? []
      : [`The Inspector's answer to ${args.join(" ")} lacks ${expected}:\n${stdout}`];
  } catch (error) {
    return [`The Inspector failed on ${args.join(" ")}: ${String(error)}`];
  }
}
