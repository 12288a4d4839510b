import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";

const run = promisify(execFile);
const README = fileURLToPath(import.meta.resolve("sexp-parser/package.json")).replace("package.json", "README.md");

/** The code blocks of a language in a Markdown text, in order. */
function blocksOf(markdown: string, language: string): string[] {
  const blocks = markdown.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"));
  return [...blocks].map(([, block = ""]) => block);
}

/** What an ES module prints, run where the packages of this workspace are found. */
async function outputOf(code: string): Promise<string> {
  const folder = await mkdtemp(fileURLToPath(new URL("readme-", import.meta.url)));
  try {
    await writeFile(join(folder, "example.mjs"), code);
    return (await run(process.execPath, ["example.mjs"], { cwd: folder, env: { ...process.env, FORCE_COLOR: "0" } }))
      .stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe("README of sexp-parser", () => {
  it("shows the output of each of its examples", async () => {
    const readme = await readFile(README, "utf8");
    const outputs = [];
    for (const code of blocksOf(readme, "js")) outputs.push(await outputOf(code));
    expect(outputs).to.have.lengthOf(2);
    expect(outputs).to.deep.equal(blocksOf(readme, "text"));
  });
});
