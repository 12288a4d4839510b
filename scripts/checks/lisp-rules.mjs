const OURS = /^packages\/swank-client\/lisp\//;
/** The files that may use internal symbols. */
const COMPAT = /^packages\/swank-client\/lisp\/compat\//;

/** Strings, comments and characters, which are not checked. */
const NO_CODE = /"(?:[^"\\]|\\[\s\S])*"|;[^\n]*|#\|[\s\S]*?\|#|#\\(?:[A-Za-z-]+|[\s\S])/g;

const INTERNALS = [
  { pattern: /[^\s()'`,#"]+::[^\s()]+/g, what: "names an internal symbol of another package" },
  { pattern: /\b(?:cl:)?find-symbol\b/gi, what: "looks a symbol up by its name" },
  {
    pattern: /\(:import-from\s+(?!#:(?:swank-client\/|fiveam))[^\s()]+/gi,
    what: "imports from a package that is not ours",
  },
];

/**
 * Finds uses of internal symbols outside `compat/`. Only that folder may use them, so that differences between versions of SBCL and Swank
 * are handled in one place.
 *
 * @param {string} path
 * @param {string} text
 * @returns {string[]} a sentence for each violation
 */
export function lispProblems(path, text) {
  if (!OURS.test(path) || !path.endsWith(".lisp") || COMPAT.test(path)) return [];
  const code = text.replace(NO_CODE, (part) => part.replace(/[^\n]/g, " "));
  return INTERNALS.flatMap(({ pattern, what }) =>
    [...code.matchAll(pattern)].map((found) => {
      const line = code.slice(0, found.index).split("\n").length;
      return `${path}:${line}: "${found[0]}" ${what}: export it from a file of compat/, and use that.`;
    }),
  );
}
