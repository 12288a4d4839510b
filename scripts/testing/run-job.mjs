import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { runMocha } from "./run-mocha.mjs";
import { runResult } from "./run-result.mjs";
import { testEnvironment } from "./test-environment.mjs";

/** Milliseconds without a new test after which a process counts as hung: twice the longest timeout of a test. */
const PATIENCE = 600_000;

/** @typedef {import("./run-result.mjs").Result & Pick<import("./run-mocha.mjs").Results, "failures" | "seconds">} JobResult */

/**
 * Runs the test files of a job in a mocha process with its own folder for temporary files.
 *
 * @param {import("./plan-jobs.mjs").Job} job
 * @param {(args: readonly string[]) => string[]} mochaArguments returns all arguments for options and files
 * @param {{ folder: string, patience?: number }} settings `folder` does not exist yet
 * @returns {Promise<JobResult & { report: string }>} `report` lists each test, without the text in `failures`
 */
export async function runJob({ files }, mochaArguments, { folder, patience = PATIENCE }) {
  const temporary = join(folder, "t");
  await mkdir(temporary, { recursive: true });
  const log = join(folder, "log");
  // A pipe would stay open while a program that a test has left behind holds it.
  const file = await open(log, "w");
  try {
    const args = mochaArguments([...colors(), "--reporter-option", "failures=sent", ...files]);
    const env = { ...testEnvironment(), TMPDIR: temporary };
    const run = await runMocha(args, { output: file.fd, env, patience });
    return { ...jobResult(files, run), report: await readFile(log, "utf8") };
  } finally {
    await file.close();
  }
}

function colors() {
  return process.stdout.isTTY ? ["--color"] : [];
}

/**
 * @param {readonly string[]} files
 * @param {import("./run-mocha.mjs").MochaRun} run
 * @returns {JobResult}
 */
function jobResult(files, { exitCode, results, running, stalled }) {
  const { failures = [], seconds = {} } = results ?? {};
  const { counts, why = results?.why } = runResult(exitCode, results?.counts, { mayBeEmpty: true });
  if (why === undefined) return { counts, failures, seconds };
  const isOver = results !== undefined || running === undefined;
  const place = isOver ? files.join(", ") : `${running.file}, in "${running.title}"`;
  const hung = stalled ? "No test began for too long, so the process was killed. " : "";
  return { counts, failures, seconds, why: `${place}: ${hung}${why}` };
}
