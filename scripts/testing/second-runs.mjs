import { closingLine } from "./run-result.mjs";

/** More failed jobs than these have a common cause, and are not worth the time. */
const MOST_AGAIN = 6;

/** @typedef {import("./run-job.mjs").JobResult & { job: import("./plan-jobs.mjs").Job }} Ran */

/**
 * Runs the failed files of jobs once more, one job at a time, and reports both runs: a test that waits for other programs can fail because the
 * machine was busy.
 *
 * @param {readonly Ran[]} results
 * @param {(job: import("./plan-jobs.mjs").Job) => Promise<Ran>} run
 * @param {(text: string) => unknown} write
 * @returns {Promise<Ran[]>} the result of the last run of each file
 */
export async function runFailedAgain(results, run, write) {
  const failed = results.filter(({ counts }) => counts.failed > 0);
  if (failed.length > MOST_AGAIN) return [...results];
  /** @type {Map<Ran, Ran>} */
  const again = new Map();
  for (const first of failed) {
    const files = failedFiles(first);
    write(`\n  Again, because of failures: ${files.join(", ")}\n`);
    if (first.why !== undefined) write(`\n${first.why}\n`);
    for (const { file, text } of first.failures) write(`\n  ${file}, in its first run\n${text}`);
    const second = await run({ files });
    write(`\n  First run: ${closingLine(first.counts)}. Second run: ${closingLine(second.counts)}.\n`);
    again.set(first, withoutFiles(first, files, second));
  }
  return results.map((result) => again.get(result) ?? result);
}

/**
 * All files of the job, if its process failed or a hook outside of them.
 *
 * @param {Ran} ran
 */
function failedFiles({ job, why, failures }) {
  const files = failures.map(({ file }) => file);
  return why === undefined && files.every((file) => job.files.includes(file)) ? files : job.files;
}

/**
 * The result of the second run, and what passed in the other files of the first.
 *
 * @param {Ran} first
 * @param {readonly string[]} files
 * @param {Ran} second
 * @returns {Ran}
 */
function withoutFiles(first, files, second) {
  const others = first.job.files.filter((file) => !files.includes(file));
  const passed = others.reduce((sum, file) => sum + (first.passed[file] ?? 0), second.counts.passed);
  return { ...second, counts: { ...second.counts, passed }, seconds: { ...first.seconds, ...second.seconds } };
}
