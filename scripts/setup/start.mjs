import { pathToFileURL } from "node:url";
import { build } from "./build.mjs";
import { ensureDependencies } from "./dependencies.mjs";
import { ensureLisp } from "./lisp.mjs";
import { inRepository } from "./paths.mjs";

/**
 * The MCP server on stdin and stdout, or, in a terminal, the console.
 *
 * The server runs in this process, with its signals, exit code and streams. Before it starts, nothing is written to
 * stdout, which carries the MCP protocol.
 *
 * @param {readonly string[]} args of swank-mcp
 */
export async function start(args) {
  await ensureDependencies();
  await build(["packages/swank-mcp"]);
  // npm forwards SIGTERM and SIGINT, but SIGKILL cannot be forwarded, and a client that killed npm may keep our stdin open.
  const { watchParent } = await import("../../packages/swank-mcp/dist/base/lifetime.js");
  watchParent(() => process.kill(process.pid, "SIGTERM"));
  const wanted = await lispWanted(args);
  if (wanted !== undefined) await ensureLisp(wanted);
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  // What the console shows as the program to name in MCP clients: the one that the README names.
  const program = inRepository("node_modules/.bin/swank-mcp");
  process.argv = [process.execPath, program, ...serverArguments(args, isTerminal)];
  await import(pathToFileURL(inRepository("packages/swank-mcp/bin/swank-mcp.js")).href);
}

/**
 * @param {readonly string[]} args
 * @param {boolean} isTTY whether stdin is a terminal, so that a person uses it and no MCP client
 */
export function serverArguments(args, isTTY) {
  return isTTY && !args.some((arg) => ["console", "serve"].includes(arg)) ? ["console", ...args] : [...args];
}

/**
 * Returns the Lisp that swank-mcp would launch with these arguments, which swank-mcp's own code parses. Needs the build.
 *
 * @param {readonly string[]} args of swank-mcp
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<{ lisp: string | undefined, swank: string | undefined } | undefined>} `undefined` if it launches none:
 *   it attaches to an image, only prints a text, or refuses its arguments
 */
export async function lispWanted(args, env = process.env) {
  const { readConfig } = await import("../../packages/swank-mcp/dist/base/config.js");
  try {
    const { attach, help, version, lisp, swank } = readConfig(args, env);
    return attach !== undefined || help || version ? undefined : { lisp, swank };
  } catch {
    return undefined;
  }
}
