import { outlineCode } from "swank-client";
import { holdsForm } from "../text/holds-form.js";
import { nearest } from "../text/nearest.js";
import { CATALOGUE } from "../tools/catalogue.js";
import { COMMANDS, type CommandInput, type ConsoleCommand, takesWords, usageText } from "./commands.js";

/** A complete entry of the user. */
export type Entry =
  | { readonly kind: "nothing" }
  | { readonly kind: "code"; readonly code: string }
  | {
      readonly kind: "command";
      readonly command: ConsoleCommand;
      readonly input: Pick<CommandInput, "words" | "rest">;
    }
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
  if (command.kind === "tool" && command.takesText) return withWords(command, typed === "" ? [] : [typed], "");
  const { state, forms } = outlineCode(typed);
  if (state === "unfinished")
    return { kind: "unfinished", atEnd: { kind: "mistake", text: endlessForm(command, typed) } };
  if (state === "surplus") return misuse(command);
  const words = forms.map(({ offset, end }) => typed.slice(offset, end));
  return withWords(command, words, typed.slice(forms[0]?.end ?? 0).trim());
}

function withWords(command: ConsoleCommand, words: readonly string[], rest: string): Entry {
  return takesWords(command, words.length) ? { kind: "command", command, input: { words, rest } } : misuse(command);
}

function misuse(command: ConsoleCommand): Entry {
  return { kind: "mistake", text: `Usage: ${usageText(command)}. ${command.summary}` };
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
