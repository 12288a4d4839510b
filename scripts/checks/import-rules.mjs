import { posix } from "node:path";

/**
 * What each package's sources may import, besides files of their own package.
 * The direction is swank-mcp -> swank-client -> sexp-parser -> nothing.
 *
 * @type {Record<string, RegExp[]>}
 */
const ALLOWED = {
  "sexp-parser": [],
  "swank-client": [/^node:/, /^sexp-parser$/],
  "swank-mcp": [/^node:/, /^swank-client(\/launch)?$/, /^zod$/, /^@modelcontextprotocol\/sdk\//],
};

const IMPORT = /(?:\bfrom|^\s*import|\bimport\s*\()\s*["']([^"'\n]+)["']/gm;
const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;

/**
 * Imports that go against the direction of the packages.
 *
 * @param {string} path from the repository's root, with `/`
 * @param {string} text of the file
 * @returns {string[]} a sentence for each
 */
export function importProblems(path, text) {
  const name = /^packages\/([^/]+)\/src\//.exec(path)?.[1];
  if (name === undefined) return [];
  const specifiers = [...text.replace(COMMENT, "").matchAll(IMPORT)].map(([, specifier = ""]) => specifier);
  return specifiers.flatMap((specifier) => {
    const problem = specifier.startsWith(".")
      ? relativeProblem(name, path, specifier)
      : packageProblem(name, specifier);
    return problem === undefined ? [] : [`${path}: ${problem}`];
  });
}

/**
 * @param {string} name of the package
 * @param {string} path
 * @param {string} specifier
 */
function relativeProblem(name, path, specifier) {
  const target = posix.join(posix.dirname(path), specifier);
  if (target.startsWith(`packages/${name}/`)) return undefined;
  return `"${specifier}" leaves the package. Import another package by its name, through its exports.`;
}

/**
 * @param {string} name of the package
 * @param {string} specifier
 */
function packageProblem(name, specifier) {
  const allowed = ALLOWED[name];
  if (allowed === undefined)
    return `packages/${name} is not known to scripts/checks/import-rules.mjs. Say there what it may import.`;
  if (allowed.some((pattern) => pattern.test(specifier))) return undefined;
  return `${name} may not import "${specifier}". The direction is swank-mcp -> swank-client -> sexp-parser -> nothing.`;
}
