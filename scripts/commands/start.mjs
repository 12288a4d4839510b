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
 * The server runs in this very process, so signals, exit code and streams are its own. Until it starts nothing is
 * written to stdout, which belongs to MCP.
 *
 * @param {readonly string[]} args handed to swank-mcp
 */
export async function run(args) {
  endWithParent();
  await ensureDependencies();
  await build(["packages/swank-mcp"]);
  const wanted = await lispWanted(args);
  if (wanted !== undefined) await ensureLisp(wanted);
  const bin = inRepository("packages/swank-mcp/bin/swank-mcp.js");
  process.argv = [process.execPath, bin, ...serverArguments(args, isTerminal())];
  await import(pathToFileURL(bin).href);
}

/**
 * @param {readonly string[]} args
 * @param {boolean} isTTY whether a person is there: no MCP client is then
 */
export function serverArguments(args, isTTY) {
  return isTTY && !args.some((arg) => ["console", "serve"].includes(arg)) ? ["console", ...args] : [...args];
}

function isTerminal() {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}
