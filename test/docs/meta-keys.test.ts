import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

describe("docs/agents.md", () => {
  it("documents every key of an answer's _meta, and no other", async () => {
    const sources = join(ROOT, "packages/swank-mcp/src");
    const files = (await readdir(sources, { recursive: true })).filter((name) => name.endsWith(".ts"));
    const texts = await Promise.all(files.map((name) => readFile(join(sources, name), "utf8")));
    const used = texts.flatMap((text) => text.match(/(?<=_META = ")swank-mcp\/[a-z-]+(?=")/g) ?? []);
    const page = await readFile(join(ROOT, "docs/agents.md"), "utf8");
    const documented = page.match(/(?<=`)swank-mcp\/[a-z-]+(?=`)/g) ?? [];
    expect([...documented].sort()).to.deep.equal([...used].sort());
  });
});
