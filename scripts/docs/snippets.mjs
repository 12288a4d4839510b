import { readFile } from "node:fs/promises";
import { inRepository } from "../setup/paths.mjs";

/** The files whose code the pages show. */
export const SNIPPETS = "docs/snippets";

/** What each of them prints, as its test writes it. */
const OUTPUTS = "test/docs/snippets.snapshots.txt";

/** `<!-- snippet NAME -->`, `<!-- snippet NAME#REGION -->` or `<!-- output NAME -->`, and the code block below it, if there is one yet. */
const BLOCK =
  /^<!-- (?<kind>snippet|output) (?<name>[\w./-]+?)(?:#(?<region>[\w-]+))? -->(?:\n+```.*\n[\s\S]*?^```)?$/gm;

/** The beginning of a code block in TypeScript or JavaScript. */
const CODE = /^```(?:ts|js|typescript|javascript|mjs|mts)\b.*$/gm;

/**
 * Returns a page with the current code and output of its snippets.
 *
 * @param {string} page
 * @throws {Error} if a snippet, a region or an output does not exist, or if code on the page is not a snippet
 */
export async function withSnippets(page) {
  const outputs = readSections(await readFile(inRepository(OUTPUTS), "utf8").catch(() => ""));
  const filled = [];
  let end = 0;
  for (const match of page.matchAll(BLOCK)) {
    const { kind, name = "", region } = match.groups ?? {};
    const block = kind === "output" ? outputBlock(name, outputs) : await codeBlock(name, region);
    checkNoCode(page.slice(end, match.index));
    filled.push(page.slice(end, match.index), `${match[0].split("\n", 1)[0]}\n\n${block}`);
    end = match.index + match[0].length;
  }
  checkNoCode(page.slice(end));
  return filled.join("") + page.slice(end);
}

/** @param {string} text */
function checkNoCode(text) {
  const [block] = text.match(CODE) ?? [];
  if (block === undefined) return;
  throw new Error(`A ${block} block has no line <!-- snippet NAME --> above it, which names a file of ${SNIPPETS}.`);
}

/**
 * @param {string} name a file of the snippets without its extension, or the path of a source file
 * @param {string | undefined} region
 */
async function codeBlock(name, region) {
  const path = name.includes("/") ? name : `${SNIPPETS}/${name}.ts`;
  const lines = (await readFile(inRepository(path), "utf8")).trimEnd().split("\n");
  const shown = region === undefined ? lines : regionOf(lines, region, path);
  return `\`\`\`ts\n${shown.filter((line) => !/^\s*\/\/ #(?:end)?region\b/.test(line)).join("\n")}\n\`\`\``;
}

/**
 * The lines between `// #region NAME` and `// #endregion NAME`, without their common indentation.
 *
 * @param {readonly string[]} lines
 * @param {string} region
 * @param {string} path
 */
function regionOf(lines, region, path) {
  const [start, end] = ["region", "endregion"].map((word) =>
    lines.findIndex((line) => line.trim() === `// #${word} ${region}`),
  );
  if (start === undefined || end === undefined || start < 0 || end < start) {
    throw new Error(`${path} has no region ${region}.`);
  }
  const inside = lines.slice(start + 1, end);
  const indentation = Math.min(...inside.filter((line) => line !== "").map((line) => line.search(/\S/)));
  return inside.map((line) => line.slice(indentation));
}

/**
 * @param {string} name
 * @param {ReadonlyMap<string, string>} outputs
 */
function outputBlock(name, outputs) {
  const text = outputs.get(name);
  if (text === undefined) throw new Error(`${OUTPUTS} has no output of ${name}.`);
  return `\`\`\`text\n${text.trimEnd()}\n\`\`\``;
}

/**
 * The sections of a file of snapshots.
 *
 * @param {string} text
 * @returns {Map<string, string>}
 */
function readSections(text) {
  const [, ...parts] = `\n${text}`.split(/\n=== (.+) ===\n/);
  const names = parts.filter((_, index) => index % 2 === 0);
  return new Map(names.map((name, index) => [name, parts[index * 2 + 1] ?? ""]));
}
