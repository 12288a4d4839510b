import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*"([^"\n]+)"/g;

/** What starts a program, when a test, or what it imports of the tests and the scripts, imports it. */
const STARTERS = ["node:child_process", "swank-client/launch", "@modelcontextprotocol/sdk/client/stdio.js"];
const EMACS = /(?:^|\/)(?:support\/emacs-process\.js|setup\/missing-emacs\.mjs)$/;
const LISP = /(?:^|\/)setup\/missing-lisp\.mjs$/;
/** The packages' own imports do not count: a library that can start a Lisp does so only for a test that asks it to. */
const FOLLOWED = /^(?:test|scripts)\//;

/** @typedef {{ file: string, live: boolean, lisp: boolean, emacs: boolean }} TestFile `live`: starts programs */

/**
 * What a compiled test file needs, as its imports say.
 *
 * @param {string} file path from the repository's root, with `/`
 * @param {(path: string) => Promise<string>} [read]
 * @returns {Promise<TestFile>}
 */
export async function testNeeds(file, read = (path) => readFile(path, "utf8")) {
  const imports = await importsOf(file, read);
  const emacs = imports.some((path) => EMACS.test(path));
  const live = STARTERS.some((starter) => imports.includes(starter));
  // The programs that the scripts' tests start are Node and what comes with the packages.
  const lisp = emacs || (file.startsWith("test/scripts/") ? imports.some((path) => LISP.test(path)) : live);
  return { file, live, lisp, emacs };
}

/**
 * @param {string} file
 * @param {(path: string) => Promise<string>} read
 * @param {Set<string>} [seen]
 * @returns {Promise<string[]>} paths and names of packages, those of imported files included
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
