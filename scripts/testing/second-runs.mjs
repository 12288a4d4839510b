import { closingLine } from "./run-result.mjs";

/** More failed jobs than these have a common cause, and are not worth the time. */
const MOST_AGAIN = 6;

/** @typedef {import("./run-job.mjs").JobResult & { job: import("./plan-jobs.mjs").Job }} Ran */

/**
 * Runs failed jobs once more, one at a time, and reports both runs: a test that waits for other programs can fail because the machine was
 * busy.
 *
 * @param {readonly Ran[]} results
 * @param {(job: import("./plan-jobs.mjs").Job) => Promise<Ran>} run
 * @param {(text: string) => unknown} write
 * @returns {Promise<Ran[]>} the result of the last run of each job
 */
export async function runFailedAgain(results, run, write) {
  const failed = results.filter(({ counts }) => counts.failed > 0);
  if (failed.length > MOST_AGAIN) return [...results];
  /** @type {Map<Ran, Ran>} */
  const again = new Map();
  for (const first of failed) {
    write(`\n  Again, because of failures: ${first.job.files.join(", ")}\n`);
    if (first.why !== undefined) write(`\n${first.why}\n`);
    for (const { file, text } of first.failures) write(`\n  ${file}, in its first run\n${text}`);
    const second = await run(first.job);
    write(`\n  First run: ${closingLine(first.counts)}. Second run: ${closingLine(second.counts)}.\n`);
    again.set(first, second);
  }
  return results.map((result) => again.get(result) ?? result);
}
