import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Interface } from "node:readline/promises";
import { outlineCode } from "swank-client";
import type { Place } from "../session/agent.js";
import { nearest } from "../text/cut.js";
import { CATALOGUE } from "../tools/catalogue.js";
import {
  COMMANDS,
  type CommandInput,
  type ConsoleCommand,
  type OwnCommand,
  type ToolCommand,
  takesWords,
  usageHint,
} from "./commands.js";

export type Question =
  | { readonly kind: "code"; readonly code: string }
  | {
      readonly kind: "command";
      readonly command: ToolCommand;
      readonly input: Pick<CommandInput, "words" | "rest">;
    };

export type Entry =
  | { readonly kind: "nothing" }
  | Question
  | { readonly kind: "own"; readonly command: OwnCommand; readonly words: readonly string[] }
  /** A question that is asked again `seconds` after each answer began. */
  | { readonly kind: "live"; readonly question: Question; readonly seconds: number; readonly title: string }
  /** An unknown or misused command; `text` says what to type instead. */
  | { readonly kind: "mistake"; readonly text: string };

/** An entry that more lines may complete. `atEnd` is the entry if the input ends here. */
export interface Unfinished {
  readonly kind: "unfinished";
  readonly atEnd: Entry;
}

/** Reads the lines of an entry: code, or a command, which begins with a comma, as no form does. */
export function readEntry(text: string, commands: readonly ConsoleCommand[] = COMMANDS): Entry | Unfinished {
  const [, name, typed = ""] = /^\s*,\s*(\S*)\s*([\s\S]*)$/.exec(text) ?? [];
  return name === undefined ? readCode(text) : readCommand(name, typed.trimEnd(), commands);
}

function readCode(code: string): Entry | Unfinished {
  const { state, forms } = outlineCode(code);
  if (state === "unfinished") return { kind: "unfinished", atEnd: { kind: "code", code } };
  return state === "complete" && forms.length === 0 ? { kind: "nothing" } : { kind: "code", code };
}

function readCommand(name: string, typed: string, commands: readonly ConsoleCommand[]): Entry | Unfinished {
  const command = commands.find((candidate) => candidate.name === name.toLowerCase());
  if (command === undefined) return { kind: "mistake", text: unknownCommand(name, commands) };
  if (command.kind === "own" && command.does === "live") return readLive(command, typed, commands);
  if (command.kind === "tool" && command.takesText) return withWords(command, typed === "" ? [] : [typed], "");
  const { state, forms } = outlineCode(typed);
  if (state === "unfinished")
    return { kind: "unfinished", atEnd: { kind: "mistake", text: endlessForm(command, typed) } };
  if (state === "surplus") return misuse(command);
  const words = forms.map(({ offset, end }) => typed.slice(offset, end));
  return withWords(command, words, typed.slice(forms[0]?.end ?? 0).trim());
}

function withWords(command: ConsoleCommand, words: readonly string[], rest: string): Entry {
  if (!takesWords(command, words.length)) return misuse(command);
  return command.kind === "own"
    ? { kind: "own", command, words }
    : { kind: "command", command, input: { words, rest } };
}

/** Reads what is to be shown again and again: a form, or a command with or without its comma. */
function readLive(live: OwnCommand, typed: string, commands: readonly ConsoleCommand[]): Entry | Unfinished {
  const [, number, text = ""] = /^(?:(\d+(?:\.\d+)?)\s+)?([\s\S]*)$/.exec(typed) ?? [];
  if (/^[\d.]*$/.test(text)) return misuse(live);
  const isCommand = commands.some(({ name }) => name === /^[a-z]+(?=\s|$)/i.exec(text)?.[0].toLowerCase());
  const title = isCommand ? `,${text}` : text;
  const entry = readEntry(title, commands);
  if (entry.kind === "unfinished" || entry.kind === "mistake") return entry;
  if (entry.kind !== "code" && entry.kind !== "command") return misuse(live);
  return { kind: "live", question: entry, seconds: Number(number ?? 1), title };
}

function misuse(command: ConsoleCommand): Entry {
  return { kind: "mistake", text: usageHint(command) };
}

/** The message for a command whose form was still open when the input ended. The form may have taken lines meant as further entries. */
function endlessForm(command: ConsoleCommand, typed: string): string {
  const [first = "", ...others] = typed.split("\n");
  const lines = others.length === 1 ? "The line after it was" : `The ${others.length} lines after it were`;
  const taken = others.length === 0 ? "" : ` ${lines} read as part of it.`;
  return `Unfinished form: ,${command.name} ${first}\nIt has an open parenthesis, string or comment.${taken} Close it.`;
}

/** The message for an unknown command. Answers name tools, so for a tool's name it suggests the tool's command. */
function unknownCommand(name: string, commands: readonly ConsoleCommand[]): string {
  const byTool = commands.find((command) => command.kind === "tool" && command.tool === name);
  const hidden = COMMANDS.find((command) => command.kind === "tool" && command.name === name.toLowerCase());
  if (hidden?.kind === "tool")
    return `,${hidden.name} is switched off. To have it, add ${familyOf(hidden.tool)} to --tools.`;
  const meant = name === "" ? undefined : (byTool?.name ?? nearestCommand(name.toLowerCase(), commands));
  const guess = meant === undefined ? "" : ` Did you mean ,${meant}?`;
  return `There is no command ,${name}.${guess} ,help lists the commands.`;
}

function familyOf(tool: string): string {
  return CATALOGUE.find(({ name }) => name === tool)?.family ?? "its family";
}

/** The first command with this prefix, otherwise the nearest name. */
function nearestCommand(name: string, commands: readonly ConsoleCommand[]): string | undefined {
  const names = commands.map((command) => command.name);
  return names.find((candidate) => candidate.startsWith(name)) ?? nearest(name, names);
}

const USUAL_NAMES: ReadonlyMap<string, string> = new Map([
  ["COMMON-LISP-USER", "CL-USER"],
  ["COMMON-LISP", "CL"],
]);

/** The prompt with the package and the stop that commands act on: `CL-USER> `, `CL-USER [9/1]> `. */
export function consolePrompt(packageName: string | undefined, stop: string | undefined): string {
  const name = packageName === undefined ? "" : (USUAL_NAMES.get(packageName) ?? packageName);
  return `${[name, ...(stop === undefined ? [] : [`[${stop}]`])].join(" ").trim()}> `;
}

/** The prompt for further lines of an entry, as wide as the first prompt. */
export function continuationPrompt(prompt: string): string {
  return "... ".padStart(prompt.length);
}

/** The stop that commands act on: that of the chosen thread while it is stopped, otherwise the latest. */
export function stopOf(place: Place | undefined, chosen: string | undefined): string | undefined {
  const stops = place?.stops ?? [];
  return stops.find((stop) => stop.split("/")[0] === chosen) ?? stops.at(-1);
}

interface Screen {
  write(text: string): void;
}

/** Joins lines into entries. Entries that come early are queued. */
export class EntryReader {
  readonly #lines: Interface;
  readonly #screen: Screen | undefined;
  readonly #commands: readonly ConsoleCommand[];
  readonly #entries: Entry[] = [];
  #text = "";
  #atEnd: Entry | undefined;
  #prompt = "";
  #ended = false;
  #wake: () => void = () => {};

  constructor(lines: Interface, screen: Screen | undefined, commands: readonly ConsoleCommand[]) {
    this.#lines = lines;
    this.#commands = commands;
    this.#screen = screen;
    lines.on("line", (line) => this.#take(line));
    lines.on("close", () => this.#end());
  }

  /** Whether an entry was entered that `next` has not returned. */
  get hasNext(): boolean {
    return this.#entries.length > 0;
  }

  /** Returns the next entry; shows the prompt in a terminal. `undefined` at the end of the input. */
  async next(prompt: string): Promise<Entry | undefined> {
    this.#prompt = prompt;
    if (this.#entries.length === 0 && !this.#ended) {
      this.#show(this.#text === "" ? prompt : continuationPrompt(prompt));
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#entries.shift();
  }

  /** Drops the typed part of an entry, and shows the prompt again. */
  clear(): void {
    this.#text = "";
    this.#atEnd = undefined;
    this.#lines.write(null, { ctrl: true, name: "e" });
    this.#screen?.write("^C\n");
    this.#lines.setPrompt(this.#prompt);
    this.#lines.write(null, { ctrl: true, name: "u" });
    this.#show(this.#prompt);
  }

  #take(line: string): void {
    this.#text = this.#text === "" ? line : `${this.#text}\n${line}`;
    const entry = readEntry(this.#text, this.#commands);
    if (entry.kind === "unfinished") {
      this.#atEnd = entry.atEnd;
      this.#show(continuationPrompt(this.#prompt));
    } else this.#put(entry);
  }

  /** Ends the input. An unfinished entry counts only without a terminal: a user who leaves in the middle of an entry drops it. */
  #end(): void {
    this.#ended = true;
    if (this.#atEnd !== undefined && this.#screen === undefined) this.#put(this.#atEnd);
    this.#wake();
  }

  #put(entry: Entry): void {
    this.#text = "";
    this.#atEnd = undefined;
    this.#entries.push(entry);
    this.#wake();
  }

  #show(prompt: string): void {
    if (this.#screen === undefined || this.#ended) return;
    this.#lines.setPrompt(prompt);
    this.#lines.prompt(true);
  }
}

export const HISTORY_SIZE = 1000;

/** The path of the console's history, in the user's state folder (XDG Base Directory Specification). */
export function historyPath(environment: Readonly<Record<string, string | undefined>>): string {
  const home = environment["HOME"] || homedir();
  return join(environment["XDG_STATE_HOME"] || join(home, ".local", "state"), "swank-toolkit", "console-history");
}

/** The lines typed in earlier runs. If the file cannot be read or written, the history has only this run's lines. */
export class HistoryFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** The lines of earlier runs, the latest first, as readline expects them. */
  load(): string[] {
    const lines = this.#read();
    if (lines.length > 2 * HISTORY_SIZE) quietly(() => writeFileSync(this.#path, text(lines.slice(-HISTORY_SIZE))));
    return lines.slice(-HISTORY_SIZE).reverse();
  }

  /** Saves a line at once, so that a crash does not lose it. */
  add(line: string): void {
    if (line.trim() === "") return;
    quietly(() => {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      appendFileSync(this.#path, text([line]), { mode: 0o600 });
    });
  }

  #read(): string[] {
    try {
      return readFileSync(this.#path, "utf8")
        .split("\n")
        .filter((line) => line !== "");
    } catch {
      return [];
    }
  }
}

function text(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

function quietly(action: () => void): void {
  try {
    action();
  } catch {
    // The console works without a history.
  }
}
