import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { expect } from "chai";

const ROOT = new URL("../../../", import.meta.url);

/** The pages with links to files that are not in docs/. */
const ROOT_PAGES = ["README.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "ROADMAP.md", "SECURITY.md"];

describe("documentation", () => {
  it("links only to existing files", async () => {
    const docs = (await readdir(new URL("docs/", ROOT))).filter((file) => file.endsWith(".md"));
    const links = await Promise.all([...ROOT_PAGES, ...docs.map((file) => `docs/${file}`)].map(linksOf));
    expect(links.flat()).to.not.be.empty;
    expect(links.flat().filter(({ url }) => !existsSync(url))).to.deep.equal([]);
  });

  it("names only existing source files, and folders that exist for files to be added", async () => {
    const page = await readFile(new URL("CONTRIBUTING.md", ROOT), "utf8");
    const named = [...page.matchAll(/((?:[\w.-]+\/)+)([\w.-]+\.(?:ts|mjs|lisp|md|json|yml))\b/g)].map(
      // NAME.ts is a file to be added.
      ([, folder = "", file = ""]) => (/^[A-Z]+\./.test(file) ? folder : folder + file),
    );
    const files = await sourceFiles();
    expect(named).to.not.be.empty;
    const exists = (path: string) =>
      files.some((file) => `/${file}${path.endsWith("/") ? "/" : ""}`.endsWith(`/${path}`));
    expect(named.filter((path) => !exists(path))).to.deep.equal([]);
  });
});

/** Folders with the files that a page may name by the end of their path. */
const FOLDERS = [
  ".agents/",
  ".cursor-plugin/",
  ".github/",
  "bench/",
  "docs/",
  "examples/",
  "packages/",
  "scripts/",
  "test/",
];

/** Returns the paths of the files of the clone, without those that are installed or built. */
async function sourceFiles(): Promise<string[]> {
  const files = await Promise.all(
    FOLDERS.map(async (folder) => {
      const names = await readdir(new URL(folder, ROOT), { recursive: true });
      return names.map((name) => folder + name);
    }),
  );
  return files.flat().filter((path) => !/(^|\/)(node_modules|dist)\//.test(path));
}

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
