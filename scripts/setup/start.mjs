import { readFileSync } from "node:fs";
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
  endWithParent();
  await ensureDependencies();
  await build(["packages/swank-mcp"]);
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

/**
 * Ends this process as by SIGTERM when its parent has ended. npm forwards SIGTERM and SIGINT, but SIGKILL cannot be
 * forwarded, and a client that killed npm may keep our stdin open.
 *
 * @param {number} every milliseconds between checks
 */
export function endWithParent(every = 1000) {
  const starters = whoStartedUs();
  const timer = setInterval(() => {
    if (whoStartedUs() === starters) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, every);
  timer.unref();
}

/** Changes when our parent ends. Under npm on Linux it also changes when npm ends, whose shell is our parent and outlives it. */
function whoStartedUs() {
  const behindShell = process.env["npm_lifecycle_event"] !== undefined && process.platform === "linux";
  return behindShell ? `${process.ppid} ${parentOf(process.ppid)}` : `${process.ppid}`;
}

/** @param {number} pid @returns {string | undefined} `undefined` if the process has ended */
function parentOf(pid) {
  try {
    // proc(5): the command's name, in parentheses, may contain any characters; the parent is the second field after it.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1];
  } catch {
    return undefined;
  }
}
