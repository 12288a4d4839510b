import { join } from "node:path";

/** The folder of SLIME's newest source, beside those of Debian's releases. */
export const SLIME = "slime";

/** @typedef {{ name: string, debian: string, isNewest?: boolean }} Pair Debian's SBCL with its Swank or, if `isNewest`, with SLIME's newest source */

/** @type {readonly Pair[]} */
export const PAIRS = [
  { name: "bookworm", debian: "bookworm" },
  { name: "trixie", debian: "trixie" },
  { name: "sid", debian: "sid" },
  { name: "bookworm-slime", debian: "bookworm", isNewest: true },
  { name: "sid-slime", debian: "sid", isNewest: true },
];

/** Folders with the tests that need Lisp. */
const TESTS = ["test/swank-client/live", "test/swank-mcp/live"];

/**
 * Separates the names of pairs among the arguments of `npm run test:matrix` from the rest.
 *
 * @param {readonly string[]} args
 * @returns {{ pairs: readonly Pair[], tests: readonly string[], isWhole: boolean }} `isWhole`: no test file or option was named
 */
export function choosePairs(args) {
  const named = PAIRS.filter(({ name }) => args.includes(name));
  const tests = args.filter((arg) => !PAIRS.some(({ name }) => name === arg));
  const isWhole = tests.length === 0;
  return { pairs: named.length > 0 ? named : PAIRS, tests: isWhole ? TESTS : tests, isWhole };
}

/**
 * Returns the environment variables that choose a pair for the tests.
 *
 * @param {Pair} pair
 * @param {string} lisps folder with a folder for each release of Debian
 */
export function pairEnvironment({ debian, isNewest = false }, lisps) {
  const root = join(lisps, debian);
  return {
    SBCL: join(root, "usr/bin/sbcl"),
    SWANK: isNewest ? join(lisps, SLIME) : join(root, "usr/share/common-lisp/source/slime"),
  };
}
