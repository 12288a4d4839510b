// The commands of package.json. Each imports what it runs, because `npm start` should not wait for the code of the checks.
import { ensureDependencies } from "./setup/dependencies.mjs";
import { inRepository } from "./setup/paths.mjs";
import { runInstalled } from "./setup/programs.mjs";

/**
 * The exit code of a command is its result; 0 if it has none.
 *
 * @typedef {(args: readonly string[]) => Promise<number | void>} Command
 */

/** @type {Record<string, Command>} */
export const COMMANDS = {
  /** The MCP server on stdin and stdout, or, in a terminal, the console. The arguments are those of swank-mcp. */
  start: async (args) => (await import("./setup/start.mjs")).start(args),

  /** Compiles changed files. The arguments are folders with a tsconfig.json; all if there are none. */
  build: async (projects) => {
    await ensureDependencies();
    await (await import("./setup/build.mjs")).build(projects);
  },

  /** Removes compiled files and coverage reports, but not the installed packages. */
  clean: async () => (await import("./setup/build.mjs")).clean(),

  /** Every test except those of test/slow. The arguments are test files or folders, and options of mocha. */
  test: async (args) => (await import("./testing/run-tests.mjs")).runTests(args),

  /** The tests of test/slow, which take minutes or need root. */
  "test-slow": async (args) => (await import("./testing/run-tests.mjs")).runSlowTests(args),

  /** The tests that need Lisp with several pairs of SBCL and Swank. The arguments are names of pairs, and those of `test`. */
  "test-matrix": async (args) => (await import("./matrix/run-matrix.mjs")).runMatrix(args),

  /** `test` under c8, which also measures child processes such as swank-mcp. */
  coverage: async (args) => {
    await ensureDependencies();
    const test = [process.execPath, inRepository("scripts/run.mjs"), "test", ...args];
    return runInstalled("c8/bin/c8.js", test, { stdio: ["ignore", "inherit", "inherit"] });
  },

  /** The checks. The arguments are their names; all if there are none. */
  check: async (names) => (await import("./checks/check.mjs")).check(names),

  /** Writes the generated pages of docs/, and the manifests for the hosts. */
  docs: async () => {
    await ensureDependencies();
    await (await import("./setup/build.mjs")).build(["packages/swank-mcp"]);
    await (await import("./docs/pages.mjs")).writePages();
    // These copy skills, which are pages.
    await (await import("./manifests/manifests.mjs")).writeManifests();
  },

  /** Makes the pictures of docs/page.md anew: they show times, so that no check compares them. */
  "docs-page": async () => {
    await ensureDependencies();
    await (await import("./setup/build.mjs")).build();
    await (await import("./setup/lisp.mjs")).ensureForTests();
    await (await import("./docs/page-pictures.mjs")).makePagePictures();
  },

  /** Writes the API reference to dist/api. */
  "docs-api": async () => {
    await ensureDependencies();
    const problems = await (await import("./docs/pages.mjs")).writeApiReference();
    for (const problem of problems) process.stderr.write(`${problem}\n`);
    if (problems.length === 0) process.stdout.write("The API reference is in dist/api/index.html.\n");
    return problems.length === 0 ? 0 : 1;
  },

  /** Measures the figures of bench/ and writes them. The arguments are groups of figures, and `quick` for fewer rounds. */
  bench: async (args) => {
    await ensureDependencies();
    await (await import("./setup/build.mjs")).build();
    const { ensureForTests, ensureLisp } = await import("./setup/lisp.mjs");
    // The program that serves is Hunchentoot's.
    await (args.length === 0 || args.includes("serving") ? ensureForTests() : ensureLisp());
    return (await import("../bench/main.mjs")).main(args);
  },

  /** With `--dry-run`, packs and tries a release; otherwise publishes what was tried. */
  release: async (args) => {
    if (args.length > 0) return (await import("./release/release.mjs")).release(args);
    return (await import("./release/publish.mjs")).publish();
  },

  /** For .ci/run, before the packages are installed. */
  "install-for-ci": async () => (await import("./setup/lisp.mjs")).installForCi(),
};
