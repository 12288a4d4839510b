/**
 * Waits for a promise for a limited time.
 *
 * @param time - Milliseconds.
 * @returns the value, boxed; `undefined` when the time was up first. A rejection after that is ignored.
 */
export async function settledWithin<T>(time: number, promise: Promise<T>): Promise<{ readonly value: T } | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, time, undefined);
  });
  try {
    return await Promise.race([promise.then((value) => ({ value })), late]);
  } finally {
    clearTimeout(timer);
    promise.catch(() => {});
  }
}
