import { readdir, readFile, writeFile } from "node:fs/promises";
import { inRepository } from "../setup/paths.mjs";
import { callsPage } from "./calls-page.mjs";
import { consolePage } from "./console-page.mjs";
import { errorsPage } from "./errors-page.mjs";
import { optionsPage } from "./options-page.mjs";
import { withSnippets } from "./snippets.mjs";
import { toolsPage } from "./tools-page.mjs";

/** Every page that is generated as a whole, and the function that makes it. */
const GENERATED = [
  { path: "docs/calls.md", make: callsPage },
  { path: "docs/console.md", make: consolePage },
  { path: "docs/errors.md", make: errorsPage },
  { path: "docs/options.md", make: optionsPage },
  { path: "docs/tools.md", make: toolsPage },
];

/** Pages outside of docs/ whose code is that of files. */
const OTHER_PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  ...["sexp-parser", "swank-client", "swank-mcp"].map((name) => `packages/${name}/README.md`),
];

/** Writes every generated page, and the code on the other pages. Needs the build. */
export async function writePages() {
  for (const { path, make } of await pages()) await writeFile(inRepository(path), await make());
}

/**
 * Checks that every page matches the source. Needs the build.
 *
 * @returns {Promise<string[]>} a sentence for each page that does not
 */
export async function checkPages() {
  const problems = [];
  for (const { path, make } of await pages()) {
    const written = await readFile(inRepository(path), "utf8").catch(() => undefined);
    const made = await make().catch((error) => error);
    if (made instanceof Error) problems.push(`${path}: ${made.message}`);
    else if (written !== made) problems.push(`${path} is out of date. Run \`npm run docs\` and commit it.`);
  }
  return problems;
}

/** @returns {Promise<{ path: string, make: () => Promise<string> }[]>} every page with the function that makes its text */
async function pages() {
  const whole = GENERATED.map(({ path, make }) => ({ path, make: async () => `${await make()}\n` }));
  const docs = (await readdir(inRepository("docs")))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`);
  const written = [...OTHER_PAGES, ...docs].filter((path) => whole.every((page) => page.path !== path));
  const filled = written.map((path) => ({
    path,
    make: async () => withSnippets(await readFile(inRepository(path), "utf8")),
  }));
  return [...whole, ...filled];
}
