import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { inRepository } from "../setup/paths.mjs";
import { lispProblems } from "./lisp-rules.mjs";
import { textProblems } from "./text-rules.mjs";

const FOLDERS = ["packages", "test", "scripts", "examples", "bench"];
const SOURCE = /\.(?:ts|mjs|js|lisp)$/;
const NOT_OURS = /(?:^|\/)(?:node_modules|dist)\//;
/** These files contain the forbidden words as data. */
const RULES_THEMSELVES = /^(?:scripts\/checks\/text-rules|test\/scripts\/checks\/)/;

/**
 * Checks the text of every source file.
 *
 * @returns {Promise<string[]>} a sentence for each violation
 */
export async function checkSources() {
  const paths = (await Promise.all(FOLDERS.map(sourcesBelow))).flat();
  const problems = await Promise.all(
    paths.map(async (path) => {
      const text = await readFile(inRepository(path), "utf8");
      return [...lispProblems(path, text), ...textProblems(path, text)];
    }),
  );
  return problems.flat();
}

/** @param {string} folder */
async function sourcesBelow(folder) {
  const files = await readdir(inRepository(folder), { recursive: true }).catch(() => []);
  return files
    .map((file) => join(folder, file).replaceAll("\\", "/"))
    .filter((path) => SOURCE.test(path) && !NOT_OURS.test(path) && !RULES_THEMSELVES.test(path));
}
