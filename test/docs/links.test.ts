import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { expect } from "chai";

const ROOT = new URL("../../../", import.meta.url);

describe("documentation", () => {
  it("links only to existing files", async () => {
    const docs = (await readdir(new URL("docs/", ROOT))).filter((file) => file.endsWith(".md"));
    const links = await Promise.all(
      ["README.md", "CONTRIBUTING.md", ...docs.map((file) => `docs/${file}`)].map(linksOf),
    );
    expect(links.flat()).to.not.be.empty;
    expect(links.flat().filter(({ url }) => !existsSync(url))).to.deep.equal([]);
  });

  it("names only existing test files", async () => {
    const page = await readFile(new URL("CONTRIBUTING.md", ROOT), "utf8");
    const files = page.match(/\btest\/[\w./-]+\.test\.(?:ts|mjs|js)\b/g) ?? [];
    expect(files).to.not.be.empty;
    expect(files.filter((file) => !existsSync(new URL(file, ROOT)))).to.deep.equal([]);
  });
});

/** Returns the links of a page to files. Each has the page's name, which a failure shows. */
async function linksOf(page: string): Promise<{ page: string; target: string; url: URL }[]> {
  const base = new URL(page, ROOT);
  const targets = [...(await readFile(base, "utf8")).matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(
    ([, target = ""]) => target,
  );
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => ({ page, target, url: new URL(target, base) }));
}
