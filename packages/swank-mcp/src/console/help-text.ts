import { COMMANDS, type ConsoleCommand, usageText } from "./commands.js";

const FORMS = "Type a form to evaluate it; an unfinished form continues on the next line. A comma begins a command:";
const NO_FORMS = "Nothing is evaluated (--read-only). A comma begins a command:";
const KEYS =
  "TAB completes symbols and commands. Ctrl-C pauses an evaluation in the debugger; a second Ctrl-C aborts it.";

/** The text of `,help`. */
export function commandsText(commands: readonly ConsoleCommand[] = COMMANDS, readOnly = false): string {
  const width = Math.max(...commands.map((command) => usageText(command).length)) + 2;
  const lines = commands.map((command) => `  ${usageText(command).padEnd(width)}${command.summary}`);
  return [readOnly ? NO_FORMS : FORMS, ...lines, readOnly ? "TAB completes symbols and commands." : KEYS].join("\n");
}
