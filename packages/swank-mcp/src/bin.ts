import { resolve } from "node:path";
import { readConfig } from "./config.js";
import { defectReporter } from "./defects.js";
import { type ProgramEnd, SIGNAL_EXIT_CODES, SIGNAL_PATIENCE } from "./exit-codes.js";
import { helpText } from "./help.js";
import { leave } from "./leave.js";
import { openLog } from "./log.js";
import { OptionError } from "./option.js";
import { OutputQueue } from "./transport/output-queue.js";
import { VERSION } from "./version.js";

/** Exit code for a command line that makes no sense. */
const USAGE_ERROR = 2;

/** How long `--help` or a console's output may be left unread, in milliseconds: people read slowly in a pager. */
const PAGER_PATIENCE = 600_000;

const output = new OutputQueue(process.stdout);

async function main(): Promise<ProgramEnd> {
  const config = readConfig(process.argv.slice(2), process.env);
  if (config.help) return print(helpText());
  if (config.version) return print(`${VERSION}\n`);
  const log = openLog(config);
  const { ToolServer } = await import("./tool-server.js");
  const { openSession } = await import("./open-session.js");
  const tools = new ToolServer(config, openSession(config, log), defectReporter(log, config.verbose));
  // who waits to join the image would wait for the agent otherwise
  if (config.share !== undefined) tools.start();
  if (config.command === "console") {
    const { runConsole } = await import("./console/run-console.js");
    return endOfConsole(await runConsole(tools, binPath(), output));
  }
  return (await import("./stdio.js")).serveStdio({ tools, output, log, drainSeconds: config.timeout });
}

function endOfConsole(exitCode: number): ProgramEnd {
  return {
    exitCode,
    patience: exitCode < Math.min(...Object.values(SIGNAL_EXIT_CODES)) ? PAGER_PATIENCE : SIGNAL_PATIENCE,
  };
}

/** How this program was started, which is how a client can start it. */
function binPath(): string {
  return resolve(process.argv[1] ?? "swank-mcp");
}

function print(text: string): ProgramEnd {
  output.write(text).catch(() => undefined);
  return { exitCode: 0, patience: PAGER_PATIENCE };
}

function explain(error: unknown): ProgramEnd {
  if (error instanceof OptionError) {
    process.stderr.write(`swank-mcp: ${error.message}\n`);
    return { exitCode: USAGE_ERROR, patience: SIGNAL_PATIENCE };
  }
  process.stderr.write(`swank-mcp: ${error instanceof Error ? error.stack : String(error)}\n`);
  return { exitCode: 1, patience: SIGNAL_PATIENCE };
}

// A reader that has gone is no failure of this program; whoever writes notices it by itself.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
await leave(output, await main().catch(explain));
