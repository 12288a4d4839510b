import { COMMANDS, usageText } from "./commands.js";

/** What `,help` shows. */
export function commandsText(): string {
  const width = Math.max(...COMMANDS.map((command) => usageText(command).length)) + 2;
  const lines = COMMANDS.map((command) => `  ${usageText(command).padEnd(width)}${command.summary}`);
  return `A form is evaluated; one that is not finished goes on in the next line. A comma begins a command:
${lines.join("\n")}
TAB completes symbols and commands. Ctrl-C stops an evaluation where it is, a second one gives it up.`;
}
