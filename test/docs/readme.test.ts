import { existsSync } from "node:fs";
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

describe("the README of each package", () => {
  for (const name of ["sexp-parser", "swank-client", "swank-mcp"])
    it(`${name} stands alone on npm: it links to its own files, or to addresses`, async () => {
      const folder = new URL(`packages/${name}/`, ROOT);
      const text = await readFile(new URL("README.md", folder), "utf8");
      const targets = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(
        ([, link, image]) => link ?? image ?? "",
      );
      const own = targets.filter((target) => !target.startsWith("https://"));
      expect(own.filter((target) => target.includes(".."))).to.deep.equal([]);
      // What it links to in the repository exists there.
      for (const target of targets) {
        const [, path] =
          /^https:\/\/(?:github\.com|raw\.githubusercontent\.com)\/swank-toolkit\/swank-toolkit\/(?:blob\/)?main\/([^#]+)/.exec(
            target,
          ) ?? [];
        const url = path === undefined ? new URL(target, folder) : new URL(path, ROOT);
        if (url.protocol === "file:") expect(existsSync(url), target).to.equal(true);
      }
      // Directories want to know what it is and how to begin.
      expect(text.split(/\s+/).length).to.be.at.least(40);
      expect(text).to.match(/npm install|npx -y/);
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
