import { readdir, stat } from "node:fs/promises";
import { inRepository } from "../setup/paths.mjs";

/** The patterns in mocha's configurations: a folder, then the ending of its file names. */
const SPEC = /^([\w/.-]+)\/\*\*\/\*([\w.]+)$/;
const IGNORED = /^([\w/.-]+\/)\*\*$/;

/**
 * Returns the compiled test files that a configuration of mocha names, sorted.
 *
 * @param {{ spec: readonly string[], ignore?: readonly string[] }} config
 * @param {string} [root]
 * @returns {Promise<string[]>} paths from the repository's root
 */
export async function testFiles({ spec, ignore = [] }, root = inRepository()) {
  const found = await Promise.all(spec.map((pattern) => filesMatching(pattern, root)));
  const ignored = ignore.map((pattern) => parts(IGNORED, pattern)[0]);
  return found.flat().filter((file) => !ignored.some((folder) => file.startsWith(folder)));
}

/**
 * @param {string} pattern
 * @param {string} root
 */
async function filesMatching(pattern, root) {
  const [folder, end] = parts(SPEC, pattern);
  const names = await readdir(`${root}/${folder}`, { recursive: true });
  const paths = names.map((name) => `${folder}/${name.replaceAll("\\", "/")}`);
  return paths.filter((path) => path.endsWith(end)).sort();
}

/**
 * @param {RegExp} form
 * @param {string} pattern
 * @returns {[string, string]}
 */
function parts(form, pattern) {
  const [, first, second = ""] = form.exec(pattern) ?? [];
  if (first === undefined)
    throw new Error(`Use a pattern such as test/**/*.test.js or test/folder/**, not ${pattern}.`);
  return [first, second];
}

/**
 * The name that a compiled file or folder has in the source.
 *
 * @param {string} compiled
 */
function source(compiled) {
  return compiled.replace(/^test\/dist(?=\/|$)/, "test");
}

/**
 * Replaces each folder among the arguments of `npm test` with the test files in it.
 *
 * @param {readonly string[]} args
 * @param {readonly string[]} files all test files, compiled
 * @param {string} [root]
 * @returns {Promise<string[]>}
 */
export async function expandFolders(args, files, root = inRepository()) {
  const expanded = await Promise.all(
    args.map(async (arg) => {
      const folder = arg.replace(/^\.\//, "").replace(/\/$/, "");
      if (!/^test(?:\/|$)/.test(folder) || !(await isFolder(`${root}/${folder}`))) return [arg];
      const below = files.filter((file) => source(file).startsWith(`${source(folder)}/`));
      return below.length > 0 ? below : [arg];
    }),
  );
  return expanded.flat();
}

/** @param {string} path */
async function isFolder(path) {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
