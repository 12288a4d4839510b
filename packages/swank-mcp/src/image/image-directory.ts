import type { calls, SwankClient } from "swank-client";

/** Milliseconds that the image has to answer a small request, so that tools answer even if the image hangs. */
export const ANSWER_TIME = 3000;

/**
 * The image's current directory, which evaluated code can change.
 *
 * @throws SwankError `REQUEST_TIMEOUT` when the image does not answer within 3 s, `CANCELLED`, or the reason of a closed connection.
 */
export function imageDirectory(
  client: SwankClient,
  command: typeof calls.defaultDirectory,
  signal: AbortSignal,
): Promise<string> {
  return client.lisp.with({ timeout: ANSWER_TIME, signal }).run(command);
}
