import { createInterface, type Interface } from "node:readline";
import { clientSetup } from "../client-setup.js";
import { CLOSE_TIME, SIGNAL_EXIT_CODES } from "../exit-codes.js";
import { settledWithin } from "../settled-within.js";
import type { ToolServer } from "../tool-server.js";
import type { OutputQueue } from "../transport/output-queue.js";
import { askAtPrompt } from "./ask-at-prompt.js";
import { completionsFor } from "./completer.js";
import { Console } from "./console.js";
import { EntryReader } from "./entry-reader.js";
import { HISTORY_SIZE, HistoryFile, historyPath } from "./history-file.js";

/**
 * A prompt for a person, in a terminal; otherwise whatever is on standard input, entry by entry, without prompts.
 *
 * @param bin - Absolute path of the `swank-mcp` program.
 * @param output - Standard output, for what no terminal shows.
 * @returns the exit code: 1 when Lisp could not be reached, or, without a terminal, when anything failed.
 */
export async function runConsole(tools: ToolServer, bin: string, output: OutputQueue): Promise<number> {
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const lines = isTerminal ? terminalLines(tools) : createInterface({ input: process.stdin });
  const write = isTerminal ? writeToTerminal : (text: string) => void output.write(text).catch(() => undefined);
  const console = new Console({
    tools,
    entries: new EntryReader(lines, isTerminal ? { write } : undefined),
    setup: clientSetup(bin),
    ask: isTerminal ? askAtPrompt(lines) : undefined,
    write,
    // Nothing is run ahead of a reader that is slow.
    read: async () => void (await output.drain(() => Number.POSITIVE_INFINITY)),
  });
  const ended = new Promise<number>((resolve) => whenEnded(lines, console, isTerminal, resolve));
  const exitCode = await Promise.race([isTerminal ? converse(console) : obey(console), ended]);
  console.leave();
  lines.close();
  await leave(tools);
  if (isTerminal) write("\n");
  return exitCode;
}

/** Readline writes there as well: both keep their order only by writing at once. */
function writeToTerminal(text: string): void {
  process.stdout.write(text);
}

async function converse(console: Console): Promise<number> {
  if (!(await console.greet())) return 1;
  await console.run();
  return 0;
}

async function obey(console: Console): Promise<number> {
  await console.run();
  return console.hasFailed ? 1 : 0;
}

async function leave(tools: ToolServer): Promise<void> {
  tools.cutOff();
  await settledWithin(CLOSE_TIME, tools.close());
}

/** Readline's own line editing, with a history that outlives the run, and completion. */
function terminalLines(tools: ToolServer): Interface {
  const history = new HistoryFile(historyPath(process.env));
  const lines = createInterface({
    input: process.stdin,
    output: process.stdout,
    terminal: true,
    history: history.load(),
    historySize: HISTORY_SIZE,
    removeHistoryDuplicates: true,
    completer: (line: string, give: (error: null, completions: [string[], string]) => void) =>
      void completionsFor(line, (prefix) => tools.complete(prefix)).then((completions) => give(null, completions)),
  });
  lines.on("line", (line) => history.add(line));
  return lines;
}

/** Ends the console for what ends any program; in a terminal, Ctrl-D ends it also while an evaluation runs, and Ctrl-C never. */
function whenEnded(lines: Interface, console: Console, isTerminal: boolean, end: (exitCode: number) => void): void {
  for (const [signal, exitCode] of Object.entries(SIGNAL_EXIT_CODES))
    if (!isTerminal || signal !== "SIGINT") process.once(signal, () => end(exitCode));
  // Stays for good: a write that fails later must not become an uncaught exception.
  process.stdout.on("error", () => end(1));
  process.stdin.on("error", () => end(1));
  if (!isTerminal) return;
  lines.on("close", () => end(0));
  lines.on("SIGINT", () => console.interrupt());
  process.on("SIGINT", () => console.interrupt());
}
