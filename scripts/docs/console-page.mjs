import { code, GENERATED, prose, table } from "./markdown.mjs";

/** @typedef {{ name: string, usage: string, summary: string, tool?: string }} Command */

const ABOUT = `\`npm start\` in a terminal, or \`swank-mcp console\` with any of the [options](options.md), opens a prompt. A form is evaluated, and goes on in the
next line until it is balanced. What comes back is the text that an agent reads; what agents get as JSON is shown in lines.

The prompt shows the package, and in brackets the stop that commands are about: the latest, or that of the thread chosen with \`,thread\`. Lines are
remembered in \`~/.local/state/swank-toolkit\`, or under \`XDG_STATE_HOME\`.

| key | |
| --- | --- |
| TAB | completes symbols, as one writes them in the current package, and commands |
| Ctrl-C | stops an evaluation where it is, so that it can be looked at and continued; a second one gives it up; at the prompt it drops the line |
| Ctrl-D | leaves, and ends everything that the console has started |

Without a terminal the console takes its input as a script, shows no prompts, and exits with 1 when something failed.`;

/**
 * docs/console.md: every command of the console, from the table that it reads them with. Needs the build.
 *
 * @returns {Promise<string>}
 */
export async function consolePage() {
  const { COMMANDS } = await import("../../packages/swank-mcp/dist/console/commands.js");
  return [
    GENERATED,
    "# The console",
    ABOUT,
    "## Commands",
    table(["command", "what it does", "tool"], COMMANDS.map(commandRow)),
  ].join("\n\n");
}

/** @param {Command} command */
export function commandRow({ name, usage, summary, tool }) {
  return [code(usage === "" ? `,${name}` : `,${name} ${usage}`), prose(summary), tool === undefined ? "" : code(tool)];
}
