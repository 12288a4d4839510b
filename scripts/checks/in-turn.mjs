/**
 * Does several things side by side: each worker takes the next one when it is free.
 *
 * @template Thing, Result
 * @param {readonly Thing[]} things
 * @param {number} workers
 * @param {(thing: Thing) => Promise<Result>} work
 * @returns {Promise<Result[]>} in the order of the things
 */
export async function inTurn(things, workers, work) {
  const queue = things.entries();
  /** @type {Result[]} */
  const done = [];
  const worker = async () => {
    for (const [number, thing] of queue) {
      done[number] = await work(thing);
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
  return done;
}
