// The MCP Inspector, an independent client, lists the tools and calls them. It has its own package-lock.json and is installed when it is
// first needed, because it is half as large as all other dependencies together.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensureDependencies } from "../setup/dependencies.mjs";
import { ensureLisp } from "../setup/lisp.mjs";
import { inRepository } from "../setup/paths.mjs";
import { environment } from "../testing/run-tests.mjs";

const FOLDER = "scripts/checks/inspector";
const INSPECTOR = inRepository(
  `${FOLDER}/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js`,
);
const CACHE = environment().XDG_CACHE_HOME;
/** The server, with the cache of the tests: it is given a part of this process's environment only. */
const SERVER = ["-e", `XDG_CACHE_HOME=${CACHE}`, process.execPath, inRepository("node_modules/.bin/swank-mcp")];

/** The questions, and the text that each answer must contain. */
const QUESTIONS = [
  { args: ["--method", "tools/list", "--strict"], expected: '"evaluate-lisp"' },
  {
    args: ["--method", "tools/call", "--tool-name", "evaluate-lisp", "--tool-arg", "code=(+ 1 2)"],
    expected: '"=> 3"',
  },
  { args: ["--method", "tools/call", "--tool-name", "lisp-status"], expected: '"implementation": "SBCL"' },
];

/** Asks the questions. @returns {Promise<string[]>} a sentence for each wrong answer */
export async function checkInspector() {
  await ensureLisp();
  await ensureDependencies(FOLDER, ["--ignore-scripts"]);
  // Each of the servers would begin to build the core, and none would end it.
  const { launchImage } = await import("swank-client/launch");
  await (await launchImage({ cacheDir: join(CACHE, "swank-toolkit") })).stop();
  const problems = [];
  for (const question of QUESTIONS) problems.push(...(await problemOf(question)));
  return problems;
}

/** @param {typeof QUESTIONS[number]} question */
async function problemOf({ args, expected }) {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [INSPECTOR, "--cli", ...SERVER, ...args]);
    return stdout.includes(expected)
      ? []
      : [`The Inspector's answer to ${args.join(" ")} lacks ${expected}:\n${stdout}`];
  } catch (error) {
    return [`The Inspector failed on ${args.join(" ")}: ${String(error)}`];
  }
}
