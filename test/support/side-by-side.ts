type Tests = Readonly<Record<string, () => Promise<void>>>;

/**
 * Declares tests that begin together, with the first of them, and that mocha reports one by one. For tests that wait for a time limit
 * most of the time, and that share nothing.
 *
 * @param tests - By title.
 */
export function sideBySide(tests: Tests): void {
  let running: ReadonlyMap<string, Promise<void>> | undefined;
  for (const title of Object.keys(tests)) {
    it(title, () => {
      running ??= begin(tests);
      return running.get(title);
    });
  }
}

function begin(tests: Tests): ReadonlyMap<string, Promise<void>> {
  const running = new Map(Object.entries(tests).map(([title, run]) => [title, run()]));
  // A test can fail before mocha waits for it.
  for (const test of running.values()) test.catch(() => undefined);
  return running;
}
