import { resolve } from "node:path";
import { readConfig } from "./config.js";
import { helpText } from "./help.js";
import { openLog } from "./log.js";
import { OptionError } from "./option.js";
import { VERSION } from "./version.js";

/** Exit code for a command line that makes no sense. */
const USAGE_ERROR = 2;

/** @returns the exit code. */
async function main(): Promise<number> {
  const config = readConfig(process.argv.slice(2), process.env);
  if (config.help) return print(helpText());
  if (config.version) return print(`${VERSION}\n`);
  const log = openLog(config);
  const { ToolServer } = await import("./tool-server.js");
  const { openSession } = await import("./open-session.js");
  const tools = new ToolServer(config, openSession(config, log));
  // who waits to join the image would wait for the agent otherwise
  if (config.share !== undefined) tools.start();
  if (config.command === "console") return (await import("./console/run-console.js")).runConsole(tools, binPath());
  return (await import("./stdio.js")).serveStdio(tools, log);
}

/** How this program was started, which is how a client can start it. */
function binPath(): string {
  return resolve(process.argv[1] ?? "swank-mcp");
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

function explain(error: unknown): number {
  if (error instanceof OptionError) {
    process.stderr.write(`swank-mcp: ${error.message}\n`);
    return USAGE_ERROR;
  }
  process.stderr.write(`swank-mcp: ${error instanceof Error ? error.stack : String(error)}\n`);
  return 1;
}

process.exit(await main().catch(explain));
