import type { commands, SwankClient } from "swank-client";

/** The image's current directory, which evaluated code can change. */
export async function imageDirectory(
  client: SwankClient,
  { name, encode, decode }: typeof commands.defaultDirectory,
): Promise<string> {
  return decode(await client.call(encode(), { label: name }));
}
