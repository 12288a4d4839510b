import { createInterface, type Interface } from "node:readline/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { types } from "swank-client";
import * as z from "zod";
import type { ToolAnswer } from "../base/answer.js";
import { clientSetup } from "../base/client-setup.js";
import type { Config } from "../base/config.js";
import type { Lifetime, OutputQueue, Service } from "../base/lifetime.js";
import type { ToolCall } from "../call/run-call.js";
import { textSection } from "../report/report.js";
import type { Place } from "../session/agent.js";
import type { Ask, Question as AskedQuestion, Reply } from "../session/approval-places.js";
import { cut } from "../text/cut.js";
import type { ToolServer } from "../tools/tool-server.js";
import {
  type ConsoleCommand,
  commandsText,
  completionsFor,
  knownCommands,
  type OwnCommand,
  offeredCommands,
  type ToolCommand,
  usageHint,
} from "./commands.js";
import { jsonText } from "./json-text.js";
import {
  consolePrompt,
  type Entry,
  EntryReader,
  HISTORY_SIZE,
  HistoryFile,
  historyPath,
  type Question,
  stopOf,
} from "./read-entry.js";

/** An answer as the console shows it: the agent's text, or JSON in lines, with the notices below it. */
export function answerText({ blocks, structured, isError }: ToolAnswer): string {
  const [, ...others] = blocks;
  if (structured === undefined || isError) return blocks.join("\n\n");
  const { notices, ...data } = structured;
  const texts = Array.isArray(notices) ? [notices.join("\n")] : [];
  return [jsonText(data), ...others, ...texts].join("\n\n");
}

const status = z.looseObject({
  implementation: z.string(),
  version: z.string(),
  pid: z.number().optional(),
  address: z.string().optional(),
  read_only: z.boolean().default(false),
  notices: z.array(z.string()).default([]),
});

const READS = `This console only reads (--read-only): it evaluates nothing. ,help lists the commands; Ctrl-D leaves.
`;

const HOW_TO = `Type a form to evaluate it. ,help lists the commands; Ctrl-C interrupts, Ctrl-D leaves.
Agents use the same tools: ,setup shows how to add this server to an MCP client.
`;

/** The notices in an answer of lisp-status, a line each. */
export function noticesText({ structured }: ToolAnswer): string {
  return status
    .parse(structured)
    .notices.map((notice) => `${notice}\n`)
    .join("");
}

/** The greeting of a console, made from an answer of lisp-status. */
export function greetingText(answer: ToolAnswer): string {
  const { implementation, version, pid, address, read_only: readOnly } = status.parse(answer.structured);
  const where = address === undefined ? "launched" : `attached at ${address}`;
  const process = pid === undefined ? "" : `, process ${pid}`;
  return `${implementation} ${version}, ${where}${process}.\n${readOnly ? READS : HOW_TO}${noticesText(answer)}`;
}

/** Shows an evaluation's output as it comes, in the report's sections. The report then omits the output already shown. */
export class LiveOutput {
  readonly #write: (text: string) => void;
  readonly #shown: Record<types.OutputStream, string> = { stdout: "", stderr: "" };
  #stream: types.OutputStream | undefined;
  #endsLine = true;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** @param stream - Absent for text that is not the evaluation's output. */
  add(text: string, stream: types.OutputStream | undefined): void {
    if (stream === undefined || text === "") return;
    if (stream !== this.#stream) this.#write(`${this.#gap()}[${stream}]\n`);
    this.#stream = stream;
    this.#shown[stream] += text;
    this.#endsLine = text.endsWith("\n");
    this.#write(text);
  }

  /** Shows an answer without the output already shown. A section that the report has cut is shown again, with its marks. */
  finish(answer: string): void {
    const rest = (["stdout", "stderr"] as const).reduce((text, stream) => this.#without(stream, text), answer);
    if (rest !== "") this.#write(`${this.#gap()}${rest}\n`);
    else if (!this.#endsLine) this.#write("\n");
  }

  #without(stream: types.OutputStream, text: string): string {
    const [section] = textSection(stream, this.#shown[stream]);
    if (section === undefined) return text;
    if (text === section) return "";
    return text.startsWith(`${section}\n\n`) ? text.slice(section.length + 2) : text;
  }

  #gap(): string {
    if (this.#stream === undefined) return "";
    return this.#endsLine ? "\n" : "\n\n";
  }
}

export interface ScreenSize {
  readonly rows: number;
  readonly columns: number;
}

/** Shows a text in place of the one before. Texts are cut to the screen, since a terminal cannot take back what it has scrolled. */
export class LiveView {
  readonly #title: string;
  readonly #size: () => ScreenSize;
  readonly #write: (text: string) => void;
  #shownLines = 0;

  constructor(title: string, seconds: number, size: () => ScreenSize, write: (text: string) => void) {
    this.#title = `${title.replaceAll(/\s+/g, " ")} (every ${seconds === 1 ? "second" : `${seconds} seconds`}; Ctrl-C ends)`;
    this.#size = size;
    this.#write = write;
  }

  show(text: string): void {
    const { rows, columns } = this.#size();
    const lines = [this.#title, ...text.split("\n")];
    // The last line stays free for the cursor, and the last column, where terminals differ.
    const room = Math.max(rows - 1, 2);
    const shown =
      lines.length > room ? [...lines.slice(0, room - 1), `(${lines.length - room + 1} more lines)`] : lines;
    this.#replace(shown.map((line) => `${cut(withoutControls(line), columns - 1, "")}\n`).join(""));
    this.#shownLines = shown.length;
  }

  end(text: string): void {
    this.#replace(`${this.#title}\n${text}\n`);
  }

  #replace(text: string): void {
    this.#write(this.#shownLines === 0 ? text : `\u001b[${this.#shownLines}A\r\u001b[J${text}`);
  }
}

/** Tabs and escape sequences would move the cursor. */
function withoutControls(line: string): string {
  return line.replaceAll("\t", "    ").replaceAll(/\p{Cc}/gu, "?");
}

const refusedArguments = z.looseObject({
  error: z.looseObject({ message: z.string(), data: z.looseObject({ type: z.literal("INVALID_ARGUMENTS") }) }),
});

/** The text for a command whose words the tool refuses, in the console's terms; `undefined` for any other answer. */
export function misuseText({ structured }: ToolAnswer, command: ToolCommand): string | undefined {
  const { success, data } = refusedArguments.safeParse(structured);
  if (!success) return undefined;
  const problem = data.error.message.replace(`${command.tool}: `, "").replace(/^The argument "([^"]*)"/, "$1");
  return `${problem}\n${usageHint(command)}`;
}

export interface ConsoleParts {
  readonly tools: ToolServer;
  readonly entries: EntryReader;
  readonly setup: string;
  readonly ask: Ask | undefined;
  readonly size: (() => ScreenSize) | undefined;
  write(text: string): void;
  read(): Promise<void>;
}

class Running {
  readonly interrupt = new AbortController();
  readonly cancel = new AbortController();
}

/** Sends the user's entries to the tools, one after another, and shows the answers. */
export class Console {
  readonly #parts: ConsoleParts;
  #place: Place | undefined;
  #thread: string | undefined;
  /** The running call, or the call of an entry that Ctrl-C followed before the call began. */
  #running: Running | undefined;
  #live: AbortController | undefined;
  #hasLeft = false;
  #hasFailed = false;

  constructor(parts: ConsoleParts) {
    this.#parts = parts;
  }

  /** True once an answer was an error or a command was wrong. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Opens the session, so that a file that cannot be loaded is reported without an entry. @returns false when Lisp cannot be reached, which is then shown */
  async open(greets: boolean): Promise<boolean> {
    const answer = await this.#call("lisp-status", {}, () => {});
    if (this.#hasLeft) return false;
    const session = await this.#parts.tools.agent.host.current();
    if (answer.isError || session?.isPartlyLoaded === true) this.#hasFailed = true;
    const opened = greets ? greetingText : noticesText;
    this.#parts.write(answer.isError ? `${answerText(answer)}\n` : opened(answer));
    return !answer.isError;
  }

  /** Takes entries until the input ends or an entry leaves the console. */
  async run(): Promise<void> {
    while (!this.#hasLeft) {
      const entry = await this.#parts.entries.next(await this.#prompt());
      if (entry === undefined) return;
      if (!this.#hasLeft) await this.#take(entry);
      // An entry without a call leaves its interrupt.
      this.#running = undefined;
      await this.#parts.read();
    }
  }

  /**
   * Handles Ctrl-C: the first pauses an evaluation, the second aborts it. At the prompt it clears the typed text. `,live` ends at once.
   *
   * A terminal can send Enter and Ctrl-C together, before the entry's call begins. They concern that call.
   */
  interrupt(): void {
    if (this.#live !== undefined) this.#endLive();
    else if (this.#running === undefined && !this.#parts.entries.hasNext) this.#parts.entries.clear();
    else {
      this.#running ??= new Running();
      const { interrupt, cancel } = this.#running;
      (interrupt.signal.aborted ? cancel : interrupt).abort();
    }
  }

  /** Takes no further entry, and shows no further answer. */
  leave(): void {
    this.#hasLeft = true;
    this.#endLive();
  }

  #endLive(): void {
    this.#live?.abort();
    this.#running?.cancel.abort();
  }

  async #prompt(): Promise<string> {
    this.#place = await this.#parts.tools.agent.place();
    return consolePrompt(this.#place?.packageName, this.#stop);
  }

  /** The stop that the prompt shows. A later stop is not the one that the user's command is for. */
  get #stop(): string | undefined {
    return stopOf(this.#place, this.#thread);
  }

  async #take(entry: Entry): Promise<void> {
    switch (entry.kind) {
      case "nothing":
        return;
      case "mistake":
        return this.#complain(entry.text);
      case "own":
        return this.#do(entry.command.does, entry.words);
      case "live":
        return this.#show(entry);
      default:
        return this.#send(entry);
    }
  }

  #callOf(question: Question): { tool: string; args: Readonly<Record<string, unknown>>; command?: ToolCommand } {
    if (question.kind === "code") return { tool: "evaluate-lisp", args: { code: question.code } };
    const { command, input } = question;
    const args = command.args({ ...input, packageName: this.#place?.packageName });
    return { tool: command.tool, args: command.ofStop ? { ...args, thread: this.#stop } : args, command };
  }

  #do(what: OwnCommand["does"], [word = ""]: readonly string[]): void {
    switch (what) {
      case "choose-thread":
        this.#choose(word);
        break;
      case "setup":
        this.#parts.write(this.#parts.setup);
        break;
      case "help":
        this.#parts.write(
          `${commandsText(offeredCommands(this.#parts.tools.guide), this.#parts.tools.agent.config.readOnly)}\n`,
        );
        break;
      case "quit":
        this.leave();
    }
  }

  #choose(word: string): void {
    const [thread] = word.split("/");
    const stops = this.#place?.stops ?? [];
    if (stops.some((stop) => stop.split("/")[0] === thread)) this.#thread = thread;
    else this.#complain(`Thread ${thread} is not stopped. Stopped threads: ${stops.join(", ") || "none"}.`);
  }

  #complain(text: string): void {
    this.#hasFailed = true;
    this.#parts.write(`${text}\n`);
  }

  async #send(question: Question): Promise<void> {
    const { tool, args, command } = this.#callOf(question);
    const output = new LiveOutput((text) => this.#parts.write(text));
    const answer = await this.#call(tool, args, (text, stream) => output.add(text, stream));
    if (this.#hasLeft) return;
    if (answer.isError) this.#hasFailed = true;
    output.finish(shownText(answer, command));
  }

  /** Shows the answer again and again, until Ctrl-C or an error. */
  async #show({ question, seconds, title }: Extract<Entry, { kind: "live" }>): Promise<void> {
    if (this.#parts.size === undefined) return this.#complain(",live needs a terminal.");
    const { tool, args, command } = this.#callOf(question);
    const view = new LiveView(title, seconds, this.#parts.size, (text) => this.#parts.write(text));
    const live = new AbortController();
    this.#live = live;
    view.show("");
    try {
      while (!live.signal.aborted) {
        const next = delay(1000 * seconds, undefined, { signal: live.signal }).catch(() => undefined);
        const answer = await this.#call(tool, args, () => {});
        if (live.signal.aborted) return;
        const text = shownText(answer, command);
        if (answer.isError) return view.end(text);
        view.show(text);
        await next;
      }
    } finally {
      live.abort();
      this.#live = undefined;
    }
  }

  async #call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    progress: ToolCall["progress"],
  ): Promise<ToolAnswer> {
    const { ask, tools } = this.#parts;
    this.#running ??= new Running();
    const running = this.#running;
    try {
      const { signal } = running.cancel;
      return await tools.call({ name, args, signal, interrupt: running.interrupt.signal, progress, ask });
    } finally {
      this.#running = undefined;
    }
  }
}

function shownText(answer: ToolAnswer, command: ToolCommand | undefined): string {
  return (command === undefined ? undefined : misuseText(answer, command)) ?? answerText(answer);
}

/** Asks in the console. The first letters of a choice are enough; any other answer declines. */
export function askAtPrompt(lines: Interface): Ask {
  return async ({ message, choices }, { timeout, signal }) => {
    const end = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
    const query = `${message}\n${choices.join(", ")}? `;
    const typed = await lines.question(query, { signal: end }).catch(() => undefined);
    return typed === undefined ? { kind: "unanswered" } : reply(typed.trim().toLowerCase(), choices);
  };
}

function reply(typed: string, choices: AskedQuestion["choices"]): Reply {
  const choice = typed === "" ? undefined : choices.find((candidate) => candidate.toLowerCase().startsWith(typed));
  return choice === undefined ? { kind: "declined" } : { kind: "chosen", choice };
}

/** How long the output may stay unread in a pager, in milliseconds. */
const PAGER_PATIENCE = 600_000;

export interface ConsoleOptions {
  readonly bin: string;
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
  const write = isTerminal ? writeToTerminal : (text: string) => void output.write(text);
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
  if (!(await console.open(true))) return 1;
  await console.run();
  return 0;
}

/** @param config - With `--load`, the files are loaded first, as by `sbcl --load`. */
async function obey(console: Console, { load, attach }: Config): Promise<number> {
  if (load.length > 0 && attach === undefined && !(await console.open(false))) return 1;
  await console.run();
  return console.hasFailed ? 1 : 0;
}

function terminalLines(tools: ToolServer, commands: readonly ConsoleCommand[]): Interface {
  const history = new HistoryFile(historyPath(process.env));
  const lines = createInterface({
    input: process.stdin,
    output: process.stdout,
    terminal: true,
    history: history.load(),
    historySize: HISTORY_SIZE,
    removeHistoryDuplicates: true,
    completer: (line) => completionsFor(line, (prefix) => tools.agent.complete(prefix), commands),
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
