import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { McpTerminal } from "../support/mcp-terminal.js";

const ROOT = new URL("../../../", import.meta.url);

describe("README.md", () => {
  let readme: string;

  before(async () => {
    readme = await readFile(new URL("README.md", ROOT), "utf8");
  });

  it("shows a console session exactly as the console prints it", async () => {
    const picture = fenced(readme, /^```\n(CL-USER> [\s\S]*?)^```$/m);
    const state = await mkdtemp(join(tmpdir(), "readme-"));
    const terminal = new McpTerminal({ state });
    try {
      for (const line of picture) await retype(line, terminal);
      await terminal.shows("CL-USER> ");
      const shown = trimmedLines(terminal.text);
      expect(shown.slice(-picture.length - 1).map(neutral)).to.deep.equal([...picture, "CL-USER>"].map(neutral));
    } finally {
      terminal.kill();
      await terminal.exited;
      await rm(state, { recursive: true });
    }
  });
});

/** Types the text after a prompt. The console prints all other lines. */
async function retype(line: string, terminal: McpTerminal): Promise<void> {
  const [, prompt, typed] = /^(CL-USER(?: \[[\d/]+\])?> | +\.\.\. )(.*)$/.exec(line) ?? [];
  if (prompt === undefined || typed === undefined) return;
  // Thread numbers depend on the version of Swank.
  await terminal.enter(typed, prompt.replace(/^.*\]/, "]"));
}

/** Replaces thread numbers, and the indentation that depends on their length. */
function neutral(line: string): string {
  return line.replace(/(thread |\[)\d+\/\d+/g, "$1N/N").replace(/^ +\.\.\. /, "... ");
}

function fenced(page: string, block: RegExp): string[] {
  const [, text] = block.exec(page) ?? [];
  if (text === undefined) throw new Error(`The page has no block like ${block}.`);
  return trimmedLines(text);
}

function trimmedLines(text: string): string[] {
  return text
    .replace(/\n\n?Time: [\d.]+ s(?=\n|$)/g, "")
    .trimEnd()
    .split("\n")
    .map((line) => line.trimEnd());
}
