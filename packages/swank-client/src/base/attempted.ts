/**
 * The result of looking at something that may be missing, such as a file; `undefined` if that fails.
 *
 * Launching asks the system for a hundred files. Synchronous calls take a tenth of the time that asking in other threads takes.
 */
export function attempted<Value>(look: () => Value): Value | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
