import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { inRepository } from "../setup/paths.mjs";
import { guessedSeconds } from "./plan-jobs.mjs";

/** The record in the repository, for runs on a machine that has none of its own. */
export const RECORDED = inRepository("test/durations.json");

/** @typedef {Record<string, number>} Durations seconds by test file */

/**
 * Reads how long test files took in their last run. A missing or damaged record only makes the order of the next run worse.
 *
 * @param {string} path
 * @returns {Promise<Durations>}
 */
export async function readDurations(path) {
  try {
    const entries = Object.entries(JSON.parse(await readFile(path, "utf8")));
    return Object.fromEntries(entries.filter(([, seconds]) => typeof seconds === "number"));
  } catch {
    return {};
  }
}

/**
 * Adds the durations of a run's files to those of earlier runs. Never rejects.
 *
 * @param {string} path
 * @param {readonly import("./plan-jobs.mjs").TestFile[]} files
 * @param {Durations} durations
 */
export async function recordDurations(path, files, durations) {
  const ran = files.flatMap(({ file }) => (durations[file] === undefined ? [] : [[file, durations[file]]]));
  const all = { ...(await readDurations(path)), ...Object.fromEntries(ran) };
  const draft = `${path}.${process.pid}`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(draft, JSON.stringify(all));
    await rename(draft, path);
  } catch {
    // Without a record the next run guesses.
  }
}

/**
 * Writes the record in the repository anew: whole seconds, and only of files that take one.
 *
 * @param {string} path
 * @param {readonly import("./plan-jobs.mjs").TestFile[]} files of the run
 * @param {Durations} durations
 */
export async function writeRecord(path, files, durations) {
  const whole = files.map(({ file }) => /** @type {const} */ ([file, Math.round(durations[file] ?? 0)]));
  const record = Object.fromEntries(whole.filter(([, seconds]) => seconds > 0).sort());
  await writeFile(path, `${JSON.stringify(record, undefined, 2)}\n`);
}

/**
 * Returns the expected duration of each test file.
 *
 * @param {readonly import("./plan-jobs.mjs").TestFile[]} files
 * @param {Durations} known
 * @returns {Promise<Durations>}
 */
export async function expectedDurations(files, known) {
  const pairs = files.map(async (file) => [file.file, known[file.file] ?? guessedSeconds(file, await size(file.file))]);
  return Object.fromEntries(await Promise.all(pairs));
}

/** @param {string} file */
async function size(file) {
  return stat(file).then(
    (found) => found.size,
    () => 0,
  );
}
