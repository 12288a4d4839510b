import { readFile, writeFile } from "node:fs/promises";
import { inRepository } from "../setup/paths.mjs";
import { callsPage } from "./calls-page.mjs";
import { consolePage } from "./console-page.mjs";
import { errorsPage } from "./errors-page.mjs";
import { optionsPage } from "./options-page.mjs";
import { toolsPage } from "./tools-page.mjs";

/** Every generated page and the function that makes it. */
const PAGES = [
  { path: "docs/calls.md", make: callsPage },
  { path: "docs/console.md", make: consolePage },
  { path: "docs/errors.md", make: errorsPage },
  { path: "docs/options.md", make: optionsPage },
  { path: "docs/tools.md", make: toolsPage },
];

/** Writes every generated page. Needs the build. */
export async function writePages() {
  for (const { path, make } of PAGES) await writeFile(inRepository(path), `${await make()}\n`);
}

/**
 * Checks that every generated page matches the source. Needs the build.
 *
 * @returns {Promise<string[]>} a sentence for each page that does not
 */
export async function checkPages() {
  const problems = [];
  for (const { path, make } of PAGES) {
    const written = await readFile(inRepository(path), "utf8").catch(() => undefined);
    if (written !== `${await make()}\n`) problems.push(`${path} is out of date. Run \`npm run docs\` and commit it.`);
  }
  return problems;
}
