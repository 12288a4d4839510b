import { basename } from "node:path";
import { SetupError } from "../setup/setup-error.mjs";

/** Names that share less than this part of their letter pairs with the typed name are not suggested. */
const LEAST_ALIKE = 0.4;

/**
 * Refuses names of test files and folders that do not exist, before mocha reports the path of a compiled file.
 *
 * @param {readonly string[]} args the arguments of `npm test`, with folders replaced by their files
 * @param {readonly string[]} files all test files, compiled
 * @param {(arg: string) => Promise<boolean>} exists whether there is a test file of that name
 * @throws {SetupError} names what was typed, and the nearest test file
 */
export async function checkNamedTests(args, files, exists) {
  for (const arg of namesAmong(args)) {
    if (await exists(arg)) continue;
    const nearest = nearestTest(arg, files.map(sourceOf));
    const hint = nearest === undefined ? "Name a file or a folder in test/." : `Did you mean ${nearest}?`;
    throw new SetupError(`There is no test file or folder ${arg}. ${hint}`);
  }
}

/**
 * The arguments that are neither options nor, because they follow one, the value of an option.
 *
 * @param {readonly string[]} args
 */
function namesAmong(args) {
  return args.filter((arg, index) => !arg.startsWith("-") && !/^-[^=]*$/.test(args[index - 1] ?? ""));
}

/** @param {string} file */
function sourceOf(file) {
  return file.replace(/^test\/dist\/(.*)\.js$/, "test/$1.ts");
}

/**
 * @param {string} typed
 * @param {readonly string[]} sources
 * @returns {string | undefined}
 */
export function nearestTest(typed, sources) {
  const wanted = stem(typed);
  const rated = sources.map((source) => ({ source, rate: alike(wanted, stem(source)) + alike(typed, source) / 100 }));
  const [best] = rated.sort((one, other) => other.rate - one.rate);
  return best !== undefined && best.rate >= LEAST_ALIKE ? best.source : undefined;
}

/** @param {string} path */
function stem(path) {
  return basename(path)
    .replace(/\.(?:test\.)?\w+$/, "")
    .toLowerCase();
}

/**
 * The part of both names' letter pairs that they share, from 0 to 1.
 *
 * @param {string} one
 * @param {string} other
 */
function alike(one, other) {
  const pairs = pairsOf(one);
  const rest = pairsOf(other);
  const total = pairs.length + rest.length;
  const shared = pairs.filter((pair) => {
    const at = rest.indexOf(pair);
    if (at >= 0) rest.splice(at, 1);
    return at >= 0;
  });
  return total === 0 ? 0 : (2 * shared.length) / total;
}

/** @param {string} text */
function pairsOf(text) {
  return Array.from({ length: Math.max(0, text.length - 1) }, (_, index) => text.slice(index, index + 2));
}
