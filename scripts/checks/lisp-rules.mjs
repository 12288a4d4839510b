const OURS = /^packages\/swank-client\/lisp\//;

/** The files that may use internal symbols. */
const PORT = /^packages\/swank-client\/lisp\/port\//;

/** The files for every Lisp. The tests of text/ run without Swank, and so find what needs it. */
const EVERY_LISP = /^packages\/swank-client\/lisp\/(?:port\/any-|text\/)/;

/** The tests, which ask what SBCL's internals do. */
const TESTS = /^packages\/swank-client\/lisp\/tests\//;

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

/** A symbol that a version of SBCL may lack: those of the packages for users stay. */
const SBCL = {
  pattern: /(?<![^\s()'`,#@])sb-(?!(?:ext|thread|mop|introspect|posix|sys|gray|bsd-sockets):[^:])[a-z0-9-]+:[^\s()]+/gi,
  what: "names an internal of SBCL, without which this file could not be loaded",
};

/** What only SBCL can read, or only an SBCL with our files for it. */
const PORTABLE = [
  { pattern: /(?<![^\s()'`,#@])sb-[a-z0-9-]+:[^\s()]+/gi, what: "names a symbol of SBCL outside of #+sbcl" },
  { pattern: /\bdefine-port\b/gi, what: "imports internals of SBCL" },
  { pattern: /#:swank-client\/sbcl-[a-z-]+/gi, what: "uses a file that is for SBCL only" },
];

/**
 * Finds uses of internal symbols outside `port/`. Only that folder may use them, so that differences between versions of SBCL and Swank
 * are handled in one place. There, DEFINE-PORT imports those of SBCL, so that one that is missing costs only what needs it. Files for every Lisp,
 * `port/any-*` and `text/`, may use SBCL only behind `#+sbcl`.
 *
 * @param {string} path
 * @param {string} text
 * @returns {string[]} a sentence for each violation
 */
export function lispProblems(path, text) {
  if (!OURS.test(path) || !path.endsWith(".lisp")) return [];
  const code = text.replace(NO_CODE, (part) => part.replace(/[^\n]/g, " "));
  const rules = [...(PORT.test(path) ? [] : INTERNALS), ...(TESTS.test(path) ? [] : [SBCL])];
  const remedy = PORT.test(path)
    ? "name it in a clause of DEFINE-PORT"
    : "export it from a file of port/, and use that";
  const portable = EVERY_LISP.test(path) ? violations(withoutSbcl(code), PORTABLE) : [];
  const problems = [
    ...violations(code, rules).map((violation) => `${violation}: ${remedy}`),
    ...portable.map((violation) => `${violation}: move it to a file of port/sbcl-*`),
  ];
  return [...new Set(problems)].map((problem) => `${path}:${problem}.`);
}

/**
 * @param {string} code
 * @param {readonly { readonly pattern: RegExp, readonly what: string }[]} rules
 * @returns {string[]} the line and the reason of each violation
 */
function violations(code, rules) {
  return rules.flatMap(({ pattern, what }) =>
    [...code.matchAll(pattern)].map((found) => {
      const line = code.slice(0, found.index).split("\n").length;
      return `${line}: "${found[0]}" ${what}`;
    }),
  );
}

/** Replaces the forms after `#+sbcl` by spaces. @param {string} code without strings and comments */
function withoutSbcl(code) {
  let rest = code;
  for (const { index } of code.matchAll(/#\+sbcl\s/g)) {
    const end = formEnd(code, index + "#+sbcl".length);
    rest = rest.slice(0, index) + code.slice(index, end).replace(/[^\n]/g, " ") + rest.slice(end);
  }
  return rest;
}

/** The end of the form at or after a position. @param {string} code @param {number} from */
function formEnd(code, from) {
  let depth = 0;
  for (const { index, 0: token } of code.slice(from).matchAll(/[()]|[^\s()]+/g)) {
    if (token === "(") depth += 1;
    if (token === ")") depth -= 1;
    if (depth === 0 && !/^[`',@#]+$/.test(token)) return from + index + token.length;
  }
  return code.length;
}
