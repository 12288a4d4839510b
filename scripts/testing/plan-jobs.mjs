/** @typedef {Pick<import("./test-needs.mjs").TestFile, "file" | "live">} TestFile */
/** @typedef {{ readonly files: readonly string[] }} Job files that one mocha process runs, one after the other */

/** Minimum duration of a job in seconds, because starting a process takes one. */
const WORTH_A_PROCESS = 10;

/** Mean seconds, rounded up, for each kilobyte of compiled test code: files that start programs are slow. */
const SECONDS_PER_KILOBYTE = { live: 1, pure: 0.1 };

/**
 * Divides test files into jobs: a long file alone, short ones together.
 *
 * @param {readonly TestFile[]} files
 * @param {(file: TestFile) => number} seconds how long a file is expected to take
 * @returns {{ together: Job[], alone: Job[] }} `together` may run side by side. Files that start no programs come first, since they fail
 *   at once, then the longest. `alone` has the files named `*.alone.test.*`, which need something that a machine has once.
 */
export function planJobs(files, seconds) {
  const timed = files.map((file) => ({ ...file, seconds: seconds(file) })).sort((a, b) => b.seconds - a.seconds);
  const shared = timed.filter(({ file }) => !needsMachine(file));
  return {
    together: [...grouped(shared.filter(({ live }) => !live)), ...grouped(shared.filter(({ live }) => live))],
    alone: grouped(timed.filter(({ file }) => needsMachine(file))),
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

/** @param {readonly (TestFile & { seconds: number })[]} files the longest first */
function grouped(files) {
  /** @type {{ files: string[], seconds: number }[]} */
  const jobs = [];
  for (const { file, seconds } of files) {
    const last = jobs.at(-1);
    if (last === undefined || last.seconds >= WORTH_A_PROCESS) jobs.push({ files: [file], seconds });
    else {
      last.files.push(file);
      last.seconds += seconds;
    }
  }
  return jobs.map((job) => ({ files: job.files }));
}
