import type { commands, SwankClient } from "swank-client";

/** Milliseconds that the image has to answer a small question; one that hangs must not keep a tool from answering. */
export const ANSWER_TIME = 3000;

/**
 * The image's current directory, which evaluated code can change.
 *
 * @throws SwankError `REQUEST_TIMEOUT` when the image does not answer within 3 s, `CANCELLED`, or the reason of a closed connection.
 */
export async function imageDirectory(
  client: SwankClient,
  { name, encode, decode }: typeof commands.defaultDirectory,
  signal: AbortSignal,
): Promise<string> {
  return decode(await client.call(encode(), { label: name, timeout: ANSWER_TIME, signal }));
}
