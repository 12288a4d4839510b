import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";

const run = promisify(execFile);
const README = fileURLToPath(import.meta.resolve("sexp-parser/package.json")).replace("package.json", "README.md");

/** The first code block of a language in a Markdown text. */
function blockOf(markdown: string, language: string): string {
  const [, block] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "ms").exec(markdown) ?? [];
  if (block === undefined) throw new Error(`no ${language} block`);
  return block;
}

/** What an ES module prints, run where the packages of this workspace are found. */
async function outputOf(code: string): Promise<string> {
  const folder = await mkdtemp(fileURLToPath(new URL("readme-", import.meta.url)));
  try {
    await writeFile(join(folder, "example.mjs"), code);
    return (await run(process.execPath, ["example.mjs"], { cwd: folder })).stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe("the README of sexp-parser", () => {
  it("shows what its example really prints", async () => {
    const readme = await readFile(README, "utf8");
    expect(await outputOf(blockOf(readme, "js"))).to.equal(blockOf(readme, "text"));
  });
});
