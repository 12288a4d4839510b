import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { expectedDurations, RECORDED, readDurations, recordDurations, writeRecord } from "./durations.mjs";
import { inTurn } from "./in-turn.mjs";
import { planJobs } from "./plan-jobs.mjs";
import { runJob } from "./run-job.mjs";
import { addResults } from "./run-result.mjs";
import { TEST_CACHE } from "./test-environment.mjs";

const SIGNALS = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);

const DURATIONS = join(TEST_CACHE, "durations.json");

/** More processes would slow each other down, because one test can run several Lisps and servers. */
const MOST_SHARDS = 4;

/**
 * Returns the number of parallel mocha processes: TEST_SHARDS, or two more than there are processors, because tests wait for a third of their time.
 *
 * @param {string | undefined} [wanted]
 * @param {number} [processors]
 */
export function shardCount(wanted = process.env["TEST_SHARDS"], processors = availableParallelism()) {
  const number = Number(wanted);
  return Number.isInteger(number) && number > 0 ? number : Math.min(processors + 2, MOST_SHARDS);
}

/**
 * Runs test files in several mocha processes. Each takes the next job from a queue when it is free.
 *
 * @param {readonly import("./plan-jobs.mjs").TestFile[]} files
 * @param {(args: readonly string[]) => string[]} mochaArguments returns all arguments for options and files
 * @param {{ shards?: number, write?: (text: string) => unknown, patience?: number }} [settings] `write` receives the report
 * @returns {Promise<import("./run-result.mjs").Result>} the sums
 */
export async function runShards(files, mochaArguments, settings = {}) {
  const { shards = shardCount(), write = (text) => process.stdout.write(text), ...limits } = settings;
  const known = { ...(await readDurations(RECORDED)), ...(await readDurations(DURATIONS)) };
  const expected = await expectedDurations(files, known);
  const { together, alone } = planJobs(files, ({ file }) => expected[file] ?? 0, shards);
  // The name is short because the path of a socket is limited to about 100 characters.
  const folder = await mkdtemp(join(tmpdir(), "st-"));
  const interruption = watchSignals();
  let number = 0;
  const run = async (/** @type {import("./plan-jobs.mjs").Job} */ job) => {
    number += 1;
    const { report, ...result } = await runJob(job, mochaArguments, { folder: join(folder, `${number}`), ...limits });
    write(report);
    return result;
  };
  try {
    const sideBySide = await inTurn(together, shards, run, interruption);
    const results = [...sideBySide, ...(await inTurn(alone, 1, run, interruption))];
    const seconds = Object.assign({}, ...results.map((result) => result.seconds));
    await recordDurations(DURATIONS, files, seconds);
    if (process.env["RECORD_DURATIONS"] === "1") await writeRecord(RECORDED, files, seconds);
    for (const { file, text } of results.flatMap(({ failures }) => failures)) write(`\n  ${file}\n${text}`);
    return addResults(results);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }).catch(() => undefined);
    interruption.end();
  }
}

/** Delays the effect of signals until `end`. The mocha processes receive the signals, too, and end themselves. */
function watchSignals() {
  /** @type {NodeJS.Signals | undefined} */
  let received;
  const remember = (/** @type {NodeJS.Signals} */ signal) => {
    received = signal;
  };
  for (const signal of SIGNALS) process.on(signal, remember);
  return {
    get signal() {
      return received;
    },
    end() {
      for (const signal of SIGNALS) process.off(signal, remember);
      if (received !== undefined) process.kill(process.pid, received);
    },
  };
}
