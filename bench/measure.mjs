/**
 * A figure: a ratio of two things timed in the same run, or a plain count.
 *
 * @typedef {object} Figure
 * @property {string} name
 * @property {number} value the ratio of the two medians, or the count
 * @property {"ratio" | "bytes"} unit
 * @property {string} [of] what was timed, with its median in milliseconds
 * @property {string} [against] what it was timed against, with its median in milliseconds
 */

/**
 * Something to time: what it is, and one run of it.
 *
 * @typedef {{ what: string, run: () => unknown }} Subject
 */

/**
 * Times two things and gives the ratio of their medians. They take turns, so that whatever else the machine does befalls
 * both alike.
 *
 * @param {string} name
 * @param {Subject} subject
 * @param {Subject} baseline
 * @param {number} [rounds] how often each is timed, after one round that is not counted
 * @returns {Promise<Figure>}
 */
export async function ratio(name, subject, baseline, rounds = 11) {
  await subject.run();
  await baseline.run();
  /** @type {[number[], number[]]} */
  const times = [[], []];
  for (let round = 0; round < rounds; round++) {
    times[0].push(await time(subject.run));
    times[1].push(await time(baseline.run));
  }
  const [mine, theirs] = [median(times[0]), median(times[1])];
  return {
    name,
    value: mine / theirs,
    unit: "ratio",
    of: `${subject.what} (${mine.toPrecision(3)} ms)`,
    against: `${baseline.what} (${theirs.toPrecision(3)} ms)`,
  };
}

/**
 * @param {readonly number[]} values at least one
 * @returns {number} the middle one, or the mean of the two in the middle
 */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

/** @param {() => unknown} run */
async function time(run) {
  const start = performance.now();
  await run();
  return performance.now() - start;
}
