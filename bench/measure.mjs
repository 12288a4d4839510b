/**
 * A figure: the ratio of two times measured in the same run, or a count.
 *
 * @typedef {object} Figure
 * @property {string} name
 * @property {number} value the ratio of the two medians, or the count
 * @property {"ratio" | "bytes" | "bytes a call"} unit
 * @property {string} [of] the timed operation, with its median in milliseconds
 * @property {string} [against] the baseline, with its median in milliseconds
 */

/**
 * An operation to time: its description, and a function that runs it once.
 *
 * @typedef {{ what: string, run: () => unknown, prepare?: () => unknown, finish?: () => unknown }} Subject `prepare` is called before each
 * run and `finish` after it; they are not timed
 */

/** How figures are measured. A quick run has half of the rounds, so that its figures vary more. */
export const settings = { isQuick: false };

/** @param {number} rounds of a whole run */
const roundsOf = (rounds) => (settings.isQuick ? Math.max(3, Math.ceil(rounds / 2)) : rounds);

/**
 * Says on standard error what is being measured.
 *
 * @param {string} what
 */
export function announce(what) {
  process.stderr.write(`${what} ...\n`);
}

/**
 * Times two operations and returns the ratio of their medians. They take turns, so that other load on the machine affects
 * both equally.
 *
 * @param {string} name
 * @param {Subject} subject
 * @param {Subject} baseline
 * @param {number} [rounds] number of timed runs of each, after one run that is not counted
 * @returns {Promise<Figure>}
 */
export async function ratio(name, subject, baseline, rounds = 11) {
  announce(`  ${name}`);
  await time(subject);
  await time(baseline);
  /** @type {[number[], number[]]} */
  const times = [[], []];
  for (let round = 0; round < roundsOf(rounds); round++) {
    times[0].push(await time(subject));
    times[1].push(await time(baseline));
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
 * Two figures: `ratio` for a process that has just started, and again after many runs, when V8 has compiled what they need.
 *
 * @param {string} name
 * @param {Subject} subject
 * @param {Subject} baseline
 * @param {number} rounds
 * @param {number} warmUp number of runs of each between the two figures
 * @returns {Promise<Figure[]>}
 */
export async function coldAndWarm(name, subject, baseline, rounds, warmUp) {
  const cold = await ratio(name, subject, baseline, rounds);
  announce(`  ${name}: ${roundsOf(warmUp)} rounds without measuring`);
  for (let run = 0; run < roundsOf(warmUp); run++) {
    await time(subject);
    await time(baseline);
  }
  return [cold, await ratio(`${name}, warm`, subject, baseline, rounds)];
}

/**
 * @param {readonly number[]} values at least one
 * @returns {number} the median: the middle value, or the mean of the two middle values
 */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

/** @param {Subject} subject */
async function time({ prepare, run, finish }) {
  await prepare?.();
  const start = performance.now();
  await run();
  const duration = performance.now() - start;
  await finish?.();
  return duration;
}
