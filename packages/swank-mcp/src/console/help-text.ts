import { COMMANDS, type ConsoleCommand, usageText } from "./commands.js";

/** The text of `,help`. */
export function commandsText(commands: readonly ConsoleCommand[] = COMMANDS): string {
  const width = Math.max(...commands.map((command) => usageText(command).length)) + 2;
  const lines = commands.map((command) => `  ${usageText(command).padEnd(width)}${command.summary}`);
  return `Type a form to evaluate it; an unfinished form continues on the next line. A comma begins a command:
${lines.join("\n")}
TAB completes symbols and commands. Ctrl-C pauses an evaluation in the debugger; a second Ctrl-C aborts it.`;
}
