import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { McpTerminal } from "../support/mcp-terminal.js";

const ROOT = new URL("../../../", import.meta.url);
/** Git ignores it, and what is imported from there is what the packages export. */
const COMPILED = fileURLToPath(new URL("test/dist/", ROOT));

const ENVIRONMENT = {
  ...process.env,
  SWANK_MCP_CACHE_DIR: join(tmpdir(), "swank-mcp-test-cache"),
  SWANK_MCP_NO_USER_INIT: "1",
};

describe("README.md", () => {
  let readme: string;

  before(async () => {
    readme = await readFile(new URL("README.md", ROOT), "utf8");
  });

  it("shows what the console shows when one types that", async () => {
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

  it("has a snippet of the library that does what it says", async () => {
    const snippet = fenced(readme, /^```js\n([\s\S]*?)^```$/m).join("\n");
    const folder = await mkdtemp(join(COMPILED, "readme-"));
    try {
      const file = join(folder, "snippet.mjs");
      await writeFile(file, snippet);
      const { stdout } = await runNode([file]);
      expect(stdout)
        .to.match(/status: 'returned'/)
        .and.to.match(/values: \[ '0' \]/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

/** Types what stands behind a prompt; all else is for the console to show. */
async function retype(line: string, terminal: McpTerminal): Promise<void> {
  const [, prompt, typed] = /^(CL-USER(?: \[[\d/]+\])?> | +\.\.\. )(.*)$/.exec(line) ?? [];
  if (prompt === undefined || typed === undefined) return;
  // threads have other numbers with another Swank
  await terminal.enter(typed, prompt.replace(/^.*\]/, "]"));
}

/** Without numbers of threads, and the room that they take in a prompt. */
function neutral(line: string): string {
  return line.replace(/(thread |\[)\d+\/\d+/g, "$1N/N").replace(/^ +\.\.\. /, "... ");
}

function runNode(args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, args, { env: ENVIRONMENT, encoding: "utf8" });
}

function fenced(page: string, block: RegExp): string[] {
  const [, text] = block.exec(page) ?? [];
  if (text === undefined) throw new Error(`The page has no block like ${block}.`);
  return trimmedLines(text);
}

function trimmedLines(text: string): string[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => line.trimEnd());
}
