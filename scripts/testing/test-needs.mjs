import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*"([^"\n]+)"/g;

/** Modules that start programs. A test starts programs if it, or a test or script file that it imports, imports one. */
const STARTERS = [
  "node:child_process",
  "swank-client/launch",
  "@modelcontextprotocol/sdk/client/stdio.js",
  "@modelcontextprotocol/client/stdio",
];
const EMACS = /(?:^|\/)(?:support\/emacs-process\.js|setup\/missing-emacs\.mjs)$/;
const FIVEAM = /(?:^|\/)(?:support\/fiveam\.js|setup\/missing-fiveam\.mjs)$/;
const LIBRARIES = /(?:^|\/)(?:support\/libraries\.js|setup\/missing-libraries\.mjs)$/;
const LISP = /(?:^|\/)setup\/missing-lisp\.mjs$/;
/** Imports inside the packages do not count: a library starts a Lisp only if a test asks it to. */
const FOLLOWED = /^(?:test|scripts)\//;

/** @typedef {{ file: string, live: boolean, lisp: boolean, fiveam: boolean, libraries: boolean, emacs: boolean }} TestFile `live`: starts programs */

/**
 * Returns the programs that a compiled test file needs, derived from its imports.
 *
 * @param {string} file path from the repository's root, with `/`
 * @param {(path: string) => Promise<string>} [read]
 * @returns {Promise<TestFile>}
 */
export async function testNeeds(file, read = (path) => readFile(path, "utf8")) {
  const imports = await importsOf(file, read);
  const emacs = imports.some((path) => EMACS.test(path));
  const live = STARTERS.some((starter) => imports.includes(starter));
  // The tests of the scripts start only Node and programs of npm packages.
  const lisp = emacs || (file.startsWith("test/scripts/") ? imports.some((path) => LISP.test(path)) : live);
  const fiveam = imports.some((path) => FIVEAM.test(path));
  const libraries = imports.some((path) => LIBRARIES.test(path));
  return { file, live, lisp, fiveam, libraries, emacs };
}

/**
 * @param {string} file
 * @param {(path: string) => Promise<string>} read
 * @param {Set<string>} [seen]
 * @returns {Promise<string[]>} paths and package names, including those of imported files
 */
async function importsOf(file, read, seen = new Set()) {
  const text = await read(file).catch(() => "");
  for (const [, specifier = ""] of text.matchAll(IMPORT)) {
    const path = specifier.startsWith(".") ? join(dirname(file), specifier).replaceAll("\\", "/") : specifier;
    if (seen.has(path)) continue;
    seen.add(path);
    if (FOLLOWED.test(path)) await importsOf(path, read, seen);
  }
  return [...seen];
}
