import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { inRepository } from "../setup/paths.mjs";

/** The page with the session. */
const PAGE = inRepository("docs/ecl.md");

/**
 * What an agent calls: an error, its frame's variables, an evaluation in that frame, and a restart with a value.
 *
 * @type {readonly (readonly [name: string, given: Record<string, unknown>])[]}
 */
const CALLS = [
  ["evaluate-lisp", { code: "(defun share (sum people) (/ sum people))" }],
  [
    "evaluate-lisp",
    {
      code: '(restart-case (list :each (share 7 0)) (use-value (value) :report "Use another list." value))',
    },
  ],
  ["debugger_frame_locals", { frame: 0 }],
  ["debugger_eval_in_frame", { frame: 0, code: "(list sum (1+ people))" }],
  ["debugger_invoke_restart", { restart: 1, values: ["(list :each 7)"] }],
];

/**
 * A session of an agent on ECL, with the answers of the real server. Where ECL is missing, or has another version than the one that was recorded, the page
 * keeps what it has.
 */
export async function eclSession() {
  const recorded = /<!-- generated ecl-session -->\n([\s\S]*?)\n<!-- end of generated -->/.exec(
    await readFile(PAGE, "utf8"),
  )?.[1];
  const version = await eclVersion();
  if (recorded !== undefined && recorded.trim() !== "" && (version === undefined || !recorded.includes(version)))
    return recorded.trim();
  return `With ${version}, by \`swank-mcp --lisp ecl\`:\n\n${await answers()}`;
}

/** @returns {Promise<string | undefined>} e.g. `ECL 21.2.1`; `undefined` if there is no ECL */
async function eclVersion() {
  try {
    const { stdout } = await promisify(execFile)("ecl", ["--version"]);
    return stdout.trim();
  } catch {
    return undefined;
  }
}

async function answers() {
  const { Client } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const client = new Client({ name: "swank-toolkit-scripts", version: "0.1.0" });
  const cache = await mkdtemp(join(tmpdir(), "ecl-session-"));
  const args = [inRepository("node_modules/.bin/swank-mcp"), "--lisp", "ecl", "--no-user-init", "--cache-dir", cache];
  await client.connect(new StdioClientTransport({ command: process.execPath, args }));
  try {
    const parts = [];
    for (const [name, given] of CALLS) parts.push(await answer(client, name, given));
    return parts.join("\n\n");
  } finally {
    await client.close();
    await rm(cache, { recursive: true, force: true });
  }
}

/**
 * @param {{ callTool(call: { name: string, arguments: Record<string, unknown> }): Promise<{ content?: unknown }> }} client
 * @param {string} name
 * @param {Record<string, unknown>} given
 */
async function answer(client, name, given) {
  const { content } = await client.callTool({ name, arguments: given });
  const blocks = /** @type {{ text: string }[]} */ (content).map(({ text }) => text);
  return ["```text", `${name} ${JSON.stringify(given)}`, "", blocks.join("\n\n"), "```"].join("\n");
}
