/** @typedef {Pick<import("./test-needs.mjs").TestFile, "file" | "live">} TestFile */
/** @typedef {{ readonly files: readonly string[] }} Job files that one mocha process runs, one after the other */

/** Minimum duration of a job in seconds, because starting a process takes one. */
const WORTH_A_PROCESS = 5;

/** A job takes this part of the work that is left for each worker: long jobs first, so that few processes start, and short ones last, so that all end together. */
const SHARE = 1 / 3;

/** Mean seconds, rounded up, for each kilobyte of compiled test code: files that start programs are slow. */
const SECONDS_PER_KILOBYTE = { live: 1, pure: 0.1 };

/**
 * Divides test files into jobs, each of which takes a share of the work that is left.
 *
 * @param {readonly TestFile[]} files
 * @param {(file: TestFile) => number} seconds how long a file is expected to take
 * @param {number} workers that run jobs side by side
 * @returns {{ together: Job[], alone: Job[] }} `together` may run side by side. Files that start no programs come first, since they fail
 *   at once, then the longest. `alone` has the files named `*.alone.test.*`, which need something that a machine has once.
 */
export function planJobs(files, seconds, workers) {
  const timed = files.map((file) => ({ ...file, seconds: seconds(file) })).sort((a, b) => b.seconds - a.seconds);
  const shared = timed.filter(({ file }) => !needsMachine(file));
  return {
    together: [
      ...grouped(
        shared.filter(({ live }) => !live),
        workers,
      ),
      ...grouped(
        shared.filter(({ live }) => live),
        workers,
      ),
    ],
    alone: grouped(
      timed.filter(({ file }) => needsMachine(file)),
      1,
    ),
  };
}

/**
 * Guesses how long a file takes that was never run.
 *
 * @param {TestFile} file
 * @param {number} size in bytes, compiled
 */
export function guessedSeconds({ live }, size) {
  return (size / 1000) * SECONDS_PER_KILOBYTE[live ? "live" : "pure"];
}

/** @param {string} file */
function needsMachine(file) {
  return /\.alone\.test\.\w+$/.test(file);
}

/**
 * @param {readonly (TestFile & { seconds: number })[]} files the longest first
 * @param {number} workers
 */
function grouped(files, workers) {
  /** @type {{ files: string[], seconds: number, wanted: number }[]} */
  const jobs = [];
  let left = files.reduce((sum, { seconds }) => sum + seconds, 0);
  for (const { file, seconds } of files) {
    const last = jobs.at(-1);
    if (last === undefined || last.seconds >= last.wanted)
      jobs.push({ files: [file], seconds, wanted: Math.max(WORTH_A_PROCESS, (left * SHARE) / workers) });
    else {
      last.files.push(file);
      last.seconds += seconds;
    }
    left -= seconds;
  }
  return jobs.map((job) => ({ files: job.files }));
}
