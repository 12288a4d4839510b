import type { commands, SwankClient } from "swank-client";

/** Milliseconds that the image has to answer a small question; one that hangs must not keep a tool from answering. */
export const ANSWER_TIME = 3000;

/**
 * The image's current directory, which evaluated code can change.
 *
 * @throws SwankError `REQUEST_TIMEOUT` when the image does not answer within 3 s, `CANCELLED`, or the reason of a closed connection.
 */
export function imageDirectory(
  client: SwankClient,
  command: typeof commands.defaultDirectory,
  signal: AbortSignal,
): Promise<string> {
  return client.run(command, [], { timeout: ANSWER_TIME, signal });
}
