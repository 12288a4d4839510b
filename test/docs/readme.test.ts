import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { McpTerminal } from "../support/mcp-terminal.js";
import { ENVIRONMENT } from "../support/server-process.js";

const ROOT = new URL("../../../", import.meta.url);
const TSC = fileURLToPath(new URL("node_modules/typescript/bin/tsc", ROOT));
/** Git ignores this folder, and imports from it resolve to the packages' exports. */
const COMPILED = fileURLToPath(new URL("test/dist/", ROOT));

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

  for (const page of ["README.md", "packages/swank-client/README.md"]) {
    it(`has a library example that compiles in strict TypeScript and prints the outcomes in its comments: ${page}`, async () => {
      const text = await readFile(new URL(page, ROOT), "utf8");
      const folder = await mkdtemp(join(COMPILED, "readme-"));
      try {
        const file = join(folder, "snippet.mts");
        await writeFile(file, fenced(text, /^```ts\n([\s\S]*?)^```$/m).join("\n"));
        await runNode([
          TSC,
          "--ignoreConfig",
          "--strict",
          "--noUncheckedIndexedAccess",
          "--module",
          "nodenext",
          "--types",
          "node",
          file,
        ]);
        const { stdout } = await runNode([file.replace(/mts$/, "mjs")]);
        expect(stdout)
          .to.match(/status: 'returned'/)
          .and.to.match(/values: \[ '0' \]/);
      } finally {
        await rm(folder, { recursive: true });
      }
    });
  }
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

function runNode(args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, args, {
    env: { ...process.env, ...ENVIRONMENT, FORCE_COLOR: "0" },
    encoding: "utf8",
  });
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
