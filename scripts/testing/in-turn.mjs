/**
 * Does several things side by side: each worker takes the next one when it is free.
 *
 * @template Thing, Result
 * @param {readonly Thing[]} things
 * @param {number} workers
 * @param {(thing: Thing) => Promise<Result>} work
 * @param {{ readonly signal: NodeJS.Signals | undefined }} [interruption] nothing begins after a signal
 * @returns {Promise<Result[]>} in the order of the things; after a signal, the last ones are missing
 */
export async function inTurn(things, workers, work, interruption) {
  const queue = things.entries();
  /** @type {{ result: Result }[]} */
  const done = [];
  const worker = async () => {
    for (const [number, thing] of queue) {
      if (interruption?.signal !== undefined) return;
      done[number] = { result: await work(thing) };
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
  return done.filter((entry) => entry !== undefined).map(({ result }) => result);
}
