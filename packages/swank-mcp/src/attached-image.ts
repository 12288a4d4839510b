import type { commands, SwankClient } from "swank-client";
import { attachedOrigin } from "./attached-origin.js";
import type { Config } from "./config.js";
import { explainUnattached } from "./explain-unattached.js";
import { addressText, type ImageAddress } from "./image-address.js";
import { ANSWER_TIME, imageDirectory } from "./image-directory.js";
import { LispSession } from "./lisp-session.js";

/**
 * Connects to an image that somebody else started.
 *
 * @throws Refusal `LISP_UNREACHABLE` - with the form to type into the image; SwankError - when what is there cannot be used; both say what
 * to do about it.
 */
export async function openAttachedImage(
  address: ImageAddress,
  config: Config,
  signal: AbortSignal,
): Promise<LispSession> {
  const { commands, connect } = await import("swank-client");
  const { foreignErrors } = config;
  try {
    const client = await connect({
      ...address,
      secret: secretOption(config),
      foreignErrors,
      mayEndImage: false,
      signal,
    });
    const origin = attachedOrigin(address, client.connection.peer);
    return new LispSession({
      client,
      origin,
      remarks: [...(origin.warning === undefined ? [] : [origin.warning]), ...client.notes],
      identity: await identify(client, commands.processStart),
      directory: (asked) => imageDirectory(client, commands.defaultDirectory, asked),
      explainLoss: async () => `The connection to ${addressText(address)} was lost: ${(await client.closed).message}`,
      close: () => client.close(),
    });
  } catch (error) {
    throw explainUnattached(error, address);
  }
}

/** An image that does not say when it started is known by its process id alone. */
async function identify(client: SwankClient, command: typeof commands.processStart): Promise<string> {
  const asked = client.run(command, [], { timeout: ANSWER_TIME });
  return `${client.info.pid} ${(await asked.catch(() => undefined)) ?? ""}`;
}

function secretOption({ secretFile, noSecret }: Config): { readonly file: string } | false | undefined {
  if (noSecret) return false;
  return secretFile === undefined ? undefined : { file: secretFile };
}
