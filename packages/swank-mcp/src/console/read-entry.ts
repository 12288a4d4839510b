import { outlineCode } from "swank-client";
import { holdsForm } from "../holds-form.js";
import { nearest } from "../nearest.js";
import { COMMANDS, type CommandInput, type ConsoleCommand, takesWords, usageText } from "./commands.js";

/** What a person has typed, as far as it is complete. */
export type Entry =
  | { readonly kind: "nothing" }
  | { readonly kind: "code"; readonly code: string }
  | {
      readonly kind: "command";
      readonly command: ConsoleCommand;
      readonly input: Pick<CommandInput, "words" | "rest">;
    }
  /** No command, or one that is not used so; `text` says what to type instead. */
  | { readonly kind: "mistake"; readonly text: string };

/** More lines may complete it; `atEnd` is what it is when none come. */
export interface Unfinished {
  readonly kind: "unfinished";
  readonly atEnd: Entry;
}

/** Reads the lines of one entry: code, or a command, which a comma begins, as no form does. */
export function readEntry(text: string): Entry | Unfinished {
  const [, name, typed = ""] = /^\s*,\s*(\S*)\s*([\s\S]*)$/.exec(text) ?? [];
  return name === undefined ? readCode(text) : readCommand(name, typed.trimEnd());
}

function readCode(code: string): Entry | Unfinished {
  const { state } = outlineCode(code);
  if (state === "unfinished") return { kind: "unfinished", atEnd: { kind: "code", code } };
  return holdsForm(code) ? { kind: "code", code } : { kind: "nothing" };
}

function readCommand(name: string, typed: string): Entry | Unfinished {
  const command = COMMANDS.find((candidate) => candidate.name === name.toLowerCase());
  if (command === undefined) return { kind: "mistake", text: unknownCommand(name) };
  const { state, forms } = outlineCode(typed);
  const misused = { kind: "mistake", text: `Usage: ${usageText(command)}. ${command.summary}` } as const;
  if (state === "unfinished") return { kind: "unfinished", atEnd: misused };
  if (state === "surplus" || !takesWords(command, forms.length)) return misused;
  const words = forms.map(({ offset, end }) => typed.slice(offset, end));
  return { kind: "command", command, input: { words, rest: typed.slice(forms[0]?.end ?? 0).trim() } };
}

/** Answers name tools: who types one is shown the command. */
function unknownCommand(name: string): string {
  const byTool = COMMANDS.find((command) => command.kind === "tool" && command.tool === name);
  const meant = name === "" ? undefined : (byTool?.name ?? nearestCommand(name.toLowerCase()));
  const guess = meant === undefined ? "" : ` Did you mean ,${meant}?`;
  return `There is no command ,${name}.${guess} ,help lists the commands.`;
}

/** Who types too little means the first that begins so. */
function nearestCommand(name: string): string | undefined {
  const names = COMMANDS.map((command) => command.name);
  return names.find((candidate) => candidate.startsWith(name)) ?? nearest(name, names);
}
