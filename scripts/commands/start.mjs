import { pathToFileURL } from "node:url";
import { build } from "../setup/build.mjs";
import { ensureDependencies } from "../setup/dependencies.mjs";
import { endWithParent } from "../setup/end-with-parent.mjs";
import { ensureLisp } from "../setup/ensure-lisp.mjs";
import { lispWanted } from "../setup/lisp-wanted.mjs";
import { inRepository } from "../setup/paths.mjs";

/**
 * `npm start`: the MCP server on stdin and stdout, or, in a terminal, the console.
 *
 * The server runs in this process, with its signals, exit code and streams. Before it starts, nothing is written to
 * stdout, which carries the MCP protocol.
 *
 * @param {readonly string[]} args of swank-mcp
 */
export async function run(args) {
  endWithParent();
  await ensureDependencies();
  await build(["packages/swank-mcp"]);
  const wanted = await lispWanted(args);
  if (wanted !== undefined) await ensureLisp(wanted);
  const bin = inRepository("packages/swank-mcp/bin/swank-mcp.js");
  // What the console shows as the program to name in MCP clients: the one that the README names.
  process.argv = [
    process.execPath,
    inRepository("node_modules/.bin/swank-mcp"),
    ...serverArguments(args, isTerminal()),
  ];
  await import(pathToFileURL(bin).href);
}

/**
 * @param {readonly string[]} args
 * @param {boolean} isTTY whether stdin is a terminal, so that a person uses it and no MCP client
 */
export function serverArguments(args, isTTY) {
  return isTTY && !args.some((arg) => ["console", "serve"].includes(arg)) ? ["console", ...args] : [...args];
}

function isTerminal() {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}
