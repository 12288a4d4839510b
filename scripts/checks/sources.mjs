import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { inRepository } from "../setup/paths.mjs";
import { lispProblems } from "./lisp-rules.mjs";

const FOLDERS = ["packages", "test", "scripts", "examples", "bench"];
const SOURCE = /\.(?:ts|mjs|js|lisp)$/;
const NOT_OURS = /(?:^|\/)(?:node_modules|dist)\//;
/** These files contain the forbidden words as data. */
const RULES_THEMSELVES = /^(?:scripts\/checks\/sources|test\/scripts\/checks\/)/;

/** Checks the text of every source file. @returns {Promise<string[]>} a sentence for each violation */
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

/** Maximum number of lines of a file. It catches accidents: files are cut by subject, and most have 80 to 400 lines. */
export const MOST_LINES = 700;

/** The only file that may suppress a check, for types that the compiler cannot derive. */
export const AUDITED = "packages/sexp-parser/src/decode/assemble.ts";

/** Words that are not allowed in a source file, and what to do instead. */
const FORBIDDEN = [
  { pattern: /\b(?:TODO|FIXME|XXX|HACK)\b/, instead: "do it now, or file an issue", except: "" },
  {
    pattern: /@ts-(?:ignore|nocheck|expect-error)\b|\bbiome-ignore|\beslint-disable/,
    instead: "correct the code that the check reports",
    except: AUDITED,
  },
];

/**
 * Checks a source file of any language: its length, markers of unfinished work, and suppressed checks.
 *
 * @param {string} path
 * @param {string} text
 * @returns {string[]} a sentence for each violation
 */
export function textProblems(path, text) {
  const lines = text.replace(/\n$/, "").split("\n");
  const tooLong =
    lines.length > MOST_LINES
      ? [`${path}: ${lines.length} lines; the maximum is ${MOST_LINES}. Split it by subject.`]
      : [];
  const forbidden = lines.flatMap((line, index) =>
    FORBIDDEN.flatMap(({ pattern, instead, except }) => {
      const found = pattern.exec(line);
      return found === null || path === except ? [] : [`${path}:${index + 1}: "${found[0]}": ${instead}.`];
    }),
  );
  return [...tooLong, ...forbidden];
}
