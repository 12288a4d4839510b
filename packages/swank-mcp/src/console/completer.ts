import { COMMANDS } from "./commands.js";

/** Names that fit, and the part of the line that they would replace. */
export type Completions = [names: string[], typed: string];

/** The end of a line that can be the beginning of a symbol. */
const SYMBOL_END = /[^\s()'"`,;#]*$/;

/** What can follow what has been typed: commands at the beginning of a line, otherwise symbols, which Lisp knows. */
export async function completionsFor(
  line: string,
  symbols: (prefix: string) => Promise<readonly string[]>,
): Promise<Completions> {
  const [, name] = /^\s*,(\S*)$/.exec(line) ?? [];
  if (name !== undefined) return [commandNames(name), name];
  const typed = SYMBOL_END.exec(line)?.[0] ?? "";
  return [typed === "" ? [] : [...(await symbols(typed))], typed];
}

function commandNames(prefix: string): string[] {
  return COMMANDS.map(({ name }) => name).filter((name) => name.startsWith(prefix.toLowerCase()));
}
