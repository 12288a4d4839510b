import { createInterface, type Interface } from "node:readline";
import { clientSetup } from "../cli/client-setup.js";
import type { Config } from "../cli/config.js";
import type { Lifetime, Service } from "../process/lifetime.js";
import type { OutputQueue } from "../process/output-queue.js";
import type { ToolServer } from "../tools/tool-server.js";
import { askAtPrompt } from "./ask-at-prompt.js";
import { type ConsoleCommand, knownCommands, offeredCommands } from "./commands.js";
import { completionsFor } from "./completer.js";
import { Console } from "./console.js";
import { EntryReader } from "./entry-reader.js";
import { HISTORY_SIZE, HistoryFile, historyPath } from "./history-file.js";
import type { ScreenSize } from "./live-view.js";

/** How long the output may stay unread in a pager, in milliseconds. */
const PAGER_PATIENCE = 600_000;

/** Options of the console. */
export interface ConsoleOptions {
  /** Absolute path of the `swank-mcp` program. */
  readonly bin: string;
  /** Standard output when it is not a terminal. */
  readonly output: OutputQueue;
}

/**
 * Serves a console: with prompts in a terminal, otherwise the entries on standard input without prompts. The exit code is 1 if Lisp
 * could not be reached or, without a terminal, if any entry failed.
 */
export async function serveConsole(tools: ToolServer, options: ConsoleOptions, lifetime: Lifetime): Promise<Service> {
  const { bin, output } = options;
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const commands = offeredCommands(tools.guide);
  const lines = isTerminal ? terminalLines(tools, commands) : createInterface({ input: process.stdin });
  const write = isTerminal ? writeToTerminal : (text: string) => void output.write(text).catch(() => undefined);
  const console = new Console({
    tools,
    entries: new EntryReader(lines, isTerminal ? { write } : undefined, knownCommands(tools.guide, tools.withheld)),
    setup: clientSetup(bin),
    ask: isTerminal ? askAtPrompt(lines) : undefined,
    size: isTerminal ? terminalSize : undefined,
    write,
    // Waits for a slow reader before the next entry runs.
    read: async () => void (await output.drain(() => Number.POSITIVE_INFINITY)),
  });
  const left = (exitCode: number) => lifetime.end({ why: "the user left the console", exitCode });
  listen(lines, console, isTerminal, left);
  (isTerminal ? converse(console) : obey(console, tools.agent.config)).then(left, (error) => lifetime.fail(error));
  return {
    patience: PAGER_PATIENCE,
    lostReader: 1,
    // In a terminal, Ctrl-C interrupts an evaluation and never ends the console.
    ...(isTerminal ? { interrupt: () => console.interrupt() } : {}),
    cutOff() {
      console.leave();
      lines.close();
      tools.cutOff();
    },
    async close() {
      await tools.agent.host.close();
      tools.agent.close();
      if (isTerminal) write("\n");
    },
  };
}

/** Writes without queueing: readline also writes to the terminal, and the order must be kept. */
function writeToTerminal(text: string): void {
  process.stdout.write(text);
}

/** A terminal that does not know its size says 0. */
function terminalSize(): ScreenSize {
  return { rows: process.stdout.rows || 24, columns: process.stdout.columns || 80 };
}

async function converse(console: Console): Promise<number> {
  if (!(await console.greet())) return 1;
  await console.run();
  return 0;
}

/** @param config - With `--load`, the files are loaded first, as by `sbcl --load`. */
async function obey(console: Console, { load, attach }: Config): Promise<number> {
  if (load.length > 0 && attach === undefined && !(await console.open())) return 1;
  await console.run();
  return console.hasFailed ? 1 : 0;
}

/** A readline interface with line editing, completion and a persistent history. */
function terminalLines(tools: ToolServer, commands: readonly ConsoleCommand[]): Interface {
  const history = new HistoryFile(historyPath(process.env));
  const lines = createInterface({
    input: process.stdin,
    output: process.stdout,
    terminal: true,
    history: history.load(),
    historySize: HISTORY_SIZE,
    removeHistoryDuplicates: true,
    completer: (line: string, give: (error: null, completions: [string[], string]) => void) =>
      void completionsFor(line, (prefix) => tools.agent.complete(prefix), commands).then((completions) =>
        give(null, completions),
      ),
  });
  lines.on("line", (line) => history.add(line));
  return lines;
}

/** Handles the end of the input. In a terminal, Ctrl-D ends the console even while an evaluation runs. */
function listen(lines: Interface, console: Console, isTerminal: boolean, end: (exitCode: number) => void): void {
  process.stdin.on("error", () => end(1));
  if (!isTerminal) return;
  lines.on("close", () => end(0));
  lines.on("SIGINT", () => console.interrupt());
}
