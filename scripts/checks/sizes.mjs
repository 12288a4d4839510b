import { readdir, readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { inRepository } from "../setup/paths.mjs";

/** What a browser loads, by its folder in the program, and most bytes of it, compressed: the page, and the app that hosts show for a stop. */
const LOADED = /** @type {const} */ ([
  { what: "The page", name: "page", most: 60_000 },
  { what: "The app", name: "app", most: 20_000 },
]);

/** Checks the size of the files of the page and the app in the program. Needs the build. */
export async function checkPageSize() {
  const problems = LOADED.map(async ({ what, name, most }) => {
    const folder = inRepository(`packages/swank-mcp/dist/program/${name}/`);
    const names = await readdir(folder);
    const files = await Promise.all(names.map((file) => readFile(`${folder}${file}`)));
    return sizeProblems(files, { what, most });
  });
  return (await Promise.all(problems)).flat();
}

/**
 * @param {readonly Uint8Array[]} files
 * @param {{ readonly what: string, readonly most: number }} limit
 * @returns {string[]} a sentence when they are too large together
 */
export function sizeProblems(files, { what, most }) {
  const bytes = files.reduce((sum, file) => sum + gzipSync(file).length, 0);
  return bytes > most ? [`${what} takes ${bytes} bytes, compressed; the maximum is ${most}. Leave something out.`] : [];
}

/**
 * Maximum sizes in bytes of the answer to `tools/list`, which takes up context in every conversation of every agent: for the families that
 * agents need to run and debug code, for these and questions about code, and for all families, which are on by default.
 *
 * @type {readonly { readonly args: readonly string[], readonly bytes: number }[]}
 */
const BUDGETS = [
  { args: ["--tools", "core,debug,breakpoints"], bytes: 12_500 },
  { args: ["--tools", "core,debug,breakpoints,code"], bytes: 25_000 },
  { args: [], bytes: 29_000 },
];

/** Checks that the answers to `tools/list` stay within their budgets. */
export async function checkToolsListBudget() {
  const problems = await Promise.all(
    BUDGETS.map(async ({ args, bytes }) => budgetProblems(await listTools(args), bytes)),
  );
  return problems.flat();
}

/**
 * @param {unknown} result of `tools/list`
 * @param {number} budget in bytes
 * @returns {string[]} a sentence when it is over the budget
 */
export function budgetProblems(result, budget) {
  const bytes = Buffer.byteLength(JSON.stringify(result));
  return bytes > budget
    ? [`tools/list takes ${bytes} bytes; the maximum is ${budget}. Shorten descriptions or schemas.`]
    : [];
}

/**
 * Returns swank-mcp's answer to `tools/list`. Needs the build, but no Lisp.
 *
 * @param {readonly string[]} [args] of the server
 * @returns {Promise<unknown>}
 */
export async function listTools(args = []) {
  const { Client } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const client = new Client({ name: "swank-toolkit-scripts", version: "0.1.0" });
  const server = [inRepository("node_modules/.bin/swank-mcp"), ...args];
  await client.connect(new StdioClientTransport({ command: process.execPath, args: server }));
  try {
    return await client.listTools();
  } finally {
    await client.close();
  }
}
