import { COMMANDS, type ConsoleCommand } from "./commands.js";

/** The matching names, and the part of the line that they replace. */
export type Completions = [names: string[], typed: string];

/** The end of a line that can be a symbol's prefix. */
const SYMBOL_END = /[^\s()'"`,;#]*$/;

/** Completes a line: commands after a comma at the beginning of the line, otherwise symbols from Lisp. */
export async function completionsFor(
  line: string,
  symbols: (prefix: string) => Promise<readonly string[]>,
  commands: readonly ConsoleCommand[] = COMMANDS,
): Promise<Completions> {
  const [, name] = /^\s*,(\S*)$/.exec(line) ?? [];
  if (name !== undefined) return [commandNames(name, commands), name];
  const typed = SYMBOL_END.exec(line)?.[0] ?? "";
  return [typed === "" ? [] : [...(await symbols(typed))], typed];
}

function commandNames(prefix: string, commands: readonly ConsoleCommand[]): string[] {
  return commands.map(({ name }) => name).filter((name) => name.startsWith(prefix.toLowerCase()));
}
