import { code, GENERATED, prose, table } from "./markdown.mjs";

/** @typedef {{ name: string, usage: string, summary: string, tool?: string }} Command */

const ABOUT = `\`npm start\` in a terminal, or \`swank-mcp console\` with any of the [options](options.md), opens a prompt. The console
evaluates a form as soon as its parentheses balance; until then it reads more lines. It prints the text that an agent would read, and formats JSON
answers as lines.

The words of a command are Lisp forms, which can go over several lines. Where a command takes only a text or a file, as \`,search\` does, it is the
rest of the line as typed, without quotes around it.

\`,save\` writes the files at once, while the tool \`save-changes\` only shows the differences unless \`dry-run\` is false. \`,changes\` shows them
before.

\`,live ,threads\` shows the threads again every second, in place, and \`,live 5 ,heap\` every five. It takes every command that calls a tool, with or
without its comma, and forms: \`,live profile 1\` shows where the program spends its time, second by second. It ends at Ctrl-C, and at an error.

The prompt shows the package and, in brackets, the stop that commands apply to: the latest one, or that of the thread chosen with \`,thread\`. The
history is kept in \`~/.local/state/swank-toolkit\`, or under \`XDG_STATE_HOME\`.

| key | |
| --- | --- |
| TAB | completes commands, and symbols as the current package writes them |
| Ctrl-C | stops an evaluation in the debugger, where it can be inspected and continued; a second Ctrl-C aborts it; at the prompt, Ctrl-C discards the line |
| Ctrl-D | leaves the console, and ends its evaluations and the image that it launched |

Restarts count from 1, and frames from 0, as in the answers that agents get. The library counts both from 0.

Code that reads standard input, such as \`(read-line)\`, gets the end of the file at once: the console keeps your input for itself. Read from a
string instead: \`(with-input-from-string (*standard-input* "text") (read-line))\`.

Without a terminal, the console reads its input as a script, shows no prompts, and exits with status 1 if anything failed, a file of \`--load\`
included.`;

/**
 * Returns docs/console.md: every command of the console, from the console's own table. Needs the build.
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
