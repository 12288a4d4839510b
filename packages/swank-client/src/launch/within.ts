/** The value of a promise, or `undefined` if it takes longer than `milliseconds`. */
export async function within<Value>(promise: Promise<Value>, milliseconds: number): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  try {
    return await Promise.race([promise, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}
