import { readdir, stat } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../setup/build.mjs";
import { ensureDependencies } from "../setup/dependencies.mjs";
import { ensureForTests, ensureLisp } from "../setup/lisp.mjs";
import { inRepository } from "../setup/paths.mjs";
import { runInstalled, runProgram, SetupError } from "../setup/programs.mjs";

/** @typedef {{ passed: number, failed: number }} Counts */

/** More processes would slow each other down, because one test can run several Lisps and servers. */
const MOST_JOBS = 4;

/** The tests of `npm test`, those of commands first, because one of them can take as long as many others. Those of test/slow take minutes or need root. */
const FOLDERS = ["test/scripts", "test/dist"];

const SLOW = "test/dist/slow";

/**
 * Installs what the tests need, builds, runs the tests with mocha, and prints `N passed, N failed` as the last line.
 *
 * @param {readonly string[]} args test files or folders to run instead of all, and options of mocha
 * @param {readonly string[]} [all] the folders of all
 */
export async function runTests(args, all = FOLDERS) {
  const counts = await countTests(args, all);
  process.stdout.write(`${closingLine(counts)}\n`);
  return counts.failed === 0 ? 0 : 1;
}

/** The same for the tests of test/slow. @param {readonly string[]} args */
export function runSlowTests(args) {
  return runTests(["--timeout", "3600000", ...args], [SLOW]);
}

/** @param {Counts} counts */
export function closingLine({ passed, failed }) {
  return `${passed} passed, ${failed} failed`;
}

/**
 * The same without the last line. A failure to run the tests is printed, and counts as a failed test.
 *
 * @param {readonly string[]} args
 * @param {readonly string[]} [all]
 * @returns {Promise<Counts>}
 */
export async function countTests(args, all = FOLDERS) {
  try {
    return await setUpAndTest(args, all);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    process.stderr.write(`\n${error.name === "SetupError" ? error.message : error.stack}\n`);
    return { passed: 0, failed: 1 };
  }
}

/** @param {readonly string[]} args @param {readonly string[]} all */
async function setUpAndTest(args, all) {
  await ensureDependencies();
  await build();
  const named = args.filter((arg) => /^(?:\.\/)?test(?:\/|$)/.test(arg));
  const options = args.filter((arg) => !named.includes(arg));
  const files = (await Promise.all((named.length > 0 ? named : all).map(testFiles))).flat();
  if (options.length > 0 || files.length === 1 || all.includes(SLOW)) {
    await ensureLisp();
    return runMocha([...options, ...files]);
  }
  await ensureForTests();
  await prepareLisps();
  const alone = files.filter((file) => /\.alone\.test\.\w+$/.test(file));
  const together = files.filter((file) => !alone.includes(file));
  const counts = [await runMocha(["--parallel", "--jobs", `${jobs()}`, ...together])];
  if (alone.length > 0) counts.push(await runMocha(alone));
  return sumOf(counts);
}

/** @param {readonly Counts[]} counts */
export function sumOf(counts) {
  const sum = (/** @type {keyof Counts} */ name) => counts.reduce((total, each) => total + each[name], 0);
  return { passed: sum("passed"), failed: sum("failed") };
}

/** The number of processes: TEST_JOBS, or two more than there are processors, because tests wait for a third of their time. */
function jobs() {
  return Number(process.env["TEST_JOBS"]) || Math.min(availableParallelism() + 2, MOST_JOBS);
}

/**
 * The compiled test files that a name means: a file of test/, compiled or not, or a folder. Large ones come first, since they take longest.
 *
 * @param {string} name
 * @returns {Promise<readonly string[]>}
 * @throws {SetupError} if there is none
 */
async function testFiles(name) {
  const compiled = name
    .replace(/^\.\//, "")
    .replace(/^test(?!\/(?:dist|scripts))(?=\/|$)/, "test/dist")
    .replace(/\.ts$/, ".js");
  const found = await stat(inRepository(compiled)).catch(() => undefined);
  if (found === undefined)
    throw new SetupError(`There is no test file or folder ${name}. Name a file or a folder in test/.`);
  if (!found.isDirectory()) return [compiled];
  const entries = await readdir(inRepository(compiled), { recursive: true });
  const files = entries.map((entry) => `${compiled}/${entry}`).filter((file) => /\.test\.m?js$/.test(file));
  const kept = files.filter((file) => compiled === SLOW || !file.startsWith(`${SLOW}/`));
  const sized = await Promise.all(kept.map(async (file) => ({ file, size: (await stat(inRepository(file))).size })));
  return sized.sort((one, other) => other.size - one.size).map(({ file }) => file);
}

/** Builds the cores and compiled files that several test files share, so that no test writes a file while another reads it. */
async function prepareLisps() {
  const code = await runProgram(process.execPath, [inRepository("test/dist/support/prepare.js"), "emacs"], {
    env: environment(),
  });
  if (code !== 0) throw new SetupError("The cores that the tests start from could not be built; see above.");
}

/**
 * @param {readonly string[]} args
 * @returns {Promise<Counts>}
 * @throws {SetupError} if mocha ends before the tests do, or fails otherwise than by a test
 */
async function runMocha(args) {
  /** @type {Counts | undefined} */
  let counts;
  const stdio = /** @type {const} */ (["ignore", "inherit", "inherit", "ipc"]);
  const code = await runInstalled("mocha/bin/mocha.js", args, { stdio: [...stdio], env: environment() }, (child) => {
    child.on("message", (message) => {
      counts = /** @type {Counts} */ (message);
    });
  });
  if (counts === undefined) throw new SetupError(`The test run ended before its tests did (exit code ${code}).`);
  if (counts.passed + counts.failed === 0) throw new SetupError("No test ran.");
  return counts.failed === 0 && code !== 0 ? { ...counts, failed: 1 } : counts;
}

/** The environment of tests and checks: what they compile is kept apart from the user's, and between runs. */
export function environment() {
  const user = process.getuid?.() ?? "user";
  const cache = process.env["SWANK_TEST_CACHE"] || join(tmpdir(), `swank-test-cache-${user}`);
  return { ...process.env, SWANK_TEST_CACHE: cache, XDG_CACHE_HOME: cache };
}
