import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";

const ROOT = new URL("../../../", import.meta.url);
const BIN = fileURLToPath(new URL("packages/swank-mcp/bin/swank-mcp.js", ROOT));
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

  it("shows what the demonstration shows, up to the lines for MCP clients", async () => {
    const { stdout } = await runNode([BIN, "demo"]);
    const [transcript = "", setup] = stdout.split("\nAdd this server to an MCP client");
    expect(setup).to.be.a("string");
    expect(fenced(readme, /^```\n(> evaluate-lisp\n[\s\S]*?)^```$/m)).to.deep.equal(trimmedLines(transcript));
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
