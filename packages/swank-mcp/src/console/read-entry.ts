import { outlineCode } from "swank-client";
import { holdsForm } from "../text/holds-form.js";
import { nearest } from "../text/nearest.js";
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

/** An entry that calls a tool. */
export type Question =
  | { readonly kind: "code"; readonly code: string }
  | {
      readonly kind: "command";
      readonly command: ToolCommand;
      readonly input: Pick<CommandInput, "words" | "rest">;
    };

/** A complete entry of the user. */
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
  const { state } = outlineCode(code);
  if (state === "unfinished") return { kind: "unfinished", atEnd: { kind: "code", code } };
  return holdsForm(code) ? { kind: "code", code } : { kind: "nothing" };
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
