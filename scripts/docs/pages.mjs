import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { inRepository } from "../setup/paths.mjs";
import { problemsOf } from "../setup/programs.mjs";
import { GENERATED, SKILLS } from "./generated.mjs";
import { pictures } from "./picture.mjs";

/** The files whose code the pages show. */
const SNIPPETS = "docs/snippets";

/** What each of them prints, as its test writes it. */
const OUTPUTS = "test/docs/snippets.snapshots.txt";

/** The pages outside of docs/. */
const OTHER_PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  ...["sexp-parser", "swank-client", "swank-mcp"].map((name) => `packages/${name}/README.md`),
  ...SKILLS.map((name) => `packages/swank-mcp/skills/${name}/SKILL.md`),
];

/**
 * What is filled in: `<!-- snippet NAME -->`, `<!-- snippet NAME#REGION -->` or `<!-- output NAME -->`, and the code block below it, if there is
 * one yet; and `<!-- generated NAME -->` up to `<!-- end of generated -->`.
 */
const BLOCK =
  /^<!-- (?:(?<kind>snippet|output) (?<name>[\w./-]+?)(?:#(?<region>[\w-]+))? -->(?:\n+```.*\n[\s\S]*?^```)?|generated (?<made>[\w-]+) -->\n[\s\S]*?^<!-- end of generated -->)$/gm;

/** The beginning of a code block in TypeScript or JavaScript. */
const CODE = /^```(?:ts|js|typescript|javascript|mjs|mts)\b.*$/gm;

/** TypeDoc has its own node_modules because it does not support the TypeScript version that compiles the packages. */
const TYPEDOC = "../scripts/docs/api/node_modules/typedoc/bin/typedoc";

/**
 * Writes the API reference of sexp-parser and swank-client to dist/api.
 *
 * @returns {Promise<string[]>} TypeDoc's warnings: exported names without a docstring, broken links
 */
export function writeApiReference() {
  return problemsOf(TYPEDOC, ["--tsconfig", "scripts/docs/api/tsconfig.json", "--treatWarningsAsErrors"]);
}

/** Fills in every page, and draws the pictures. Needs the build. */
export async function writePages() {
  for (const [path, picture] of Object.entries(await pictures())) {
    await mkdir(dirname(inRepository(path)), { recursive: true });
    await writeFile(inRepository(path), picture);
  }
  for (const path of await pages())
    await writeFile(inRepository(path), await filled(await readFile(inRepository(path), "utf8")));
}

/**
 * Checks that every page matches the source. Needs the build.
 *
 * @returns {Promise<string[]>} a sentence for each page that does not
 */
export async function checkPages() {
  const problems = [];
  for (const [path, picture] of Object.entries(await pictures()))
    if ((await readFile(inRepository(path), "utf8").catch(() => "")) !== picture) problems.push(outOfDate(path));
  for (const path of await pages()) {
    const page = await readFile(inRepository(path), "utf8");
    const made = await filled(page).catch((error) => error);
    if (made instanceof Error) problems.push(`${path}: ${made.message}`);
    else if (page !== made) problems.push(outOfDate(path));
  }
  return problems;
}

/** @param {string} path */
function outOfDate(path) {
  return `${path} is out of date. Run \`npm run docs\` and commit it.`;
}

async function pages() {
  const names = (await readdir(inRepository("docs"))).filter((name) => name.endsWith(".md"));
  return [...OTHER_PAGES, ...names.map((name) => `docs/${name}`)];
}

/**
 * Returns a page with its current snippets, outputs and generated parts.
 *
 * @param {string} page
 * @throws {Error} if the page names one that does not exist, or if code on the page is not a snippet
 */
export async function filled(page) {
  const outputs = readSections(await readFile(inRepository(OUTPUTS), "utf8").catch(() => ""));
  const parts = [];
  let end = 0;
  for (const match of page.matchAll(BLOCK)) {
    const { kind, name = "", region, made } = match.groups ?? {};
    checkNoCode(page.slice(end, match.index));
    parts.push(page.slice(end, match.index), `${match[0].split("\n", 1)[0]}\n\n`);
    if (made !== undefined) parts.push(`${await generatedPart(made)}\n\n<!-- end of generated -->`);
    else parts.push(kind === "output" ? outputBlock(name, outputs) : await codeBlock(name, region));
    end = match.index + match[0].length;
  }
  checkNoCode(page.slice(end));
  return parts.join("") + page.slice(end);
}

/** @param {string} name */
async function generatedPart(name) {
  const make = GENERATED[name];
  if (make === undefined)
    throw new Error(`Nothing generates ${name}. These are generated: ${Object.keys(GENERATED).join(", ")}.`);
  return make();
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

/** @param {string} name @param {ReadonlyMap<string, string>} outputs */
function outputBlock(name, outputs) {
  const text = outputs.get(name);
  if (text === undefined) throw new Error(`${OUTPUTS} has no output of ${name}.`);
  return `\`\`\`text\n${text.trimEnd()}\n\`\`\``;
}

/** The sections of a file of snapshots. @param {string} text @returns {Map<string, string>} */
function readSections(text) {
  const [, ...parts] = `\n${text}`.split(/\n=== (.+) ===\n/);
  const names = parts.filter((_, index) => index % 2 === 0);
  return new Map(names.map((name, index) => [name, parts[index * 2 + 1] ?? ""]));
}
