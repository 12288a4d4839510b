import type { calls, SwankClient } from "swank-client";
import type { Config } from "../cli/config.js";
import { addressText, type ImageAddress } from "../cli/image-address.js";
import { explainUnattached } from "../refusals/explain-unattached.js";
import { attachedOrigin } from "./attached-origin.js";
import { ANSWER_TIME, imageDirectory } from "./image-directory.js";
import { LispSession } from "./lisp-session.js";

/**
 * Connects to an image that this server did not start.
 *
 * @throws Refusal `LISP_UNREACHABLE` - with the form to evaluate in the image; SwankError - when the image or its Swank cannot be used.
 * Both have a remedy.
 */
export async function openAttachedImage(
  address: ImageAddress,
  config: Config,
  agentName: string,
  signal: AbortSignal,
): Promise<LispSession> {
  const { calls, connect } = await import("swank-client");
  const { cacheDir, foreignErrors } = config;
  try {
    const client = await connect({
      ...address,
      secret: secretOption(config),
      foreignErrors,
      cacheDir,
      mayEndImage: false,
      agentName,
      signal,
    });
    const origin = attachedOrigin(address, client.connection.peer);
    return new LispSession({
      client,
      origin,
      remarks: [...(origin.warning === undefined ? [] : [origin.warning]), ...client.notes],
      identity: await identify(client, calls.processStart),
      directory: (asked) => imageDirectory(client, calls.defaultDirectory, asked),
      explainLoss: async () => `The connection to ${addressText(address)} was lost: ${(await client.closed).message}`,
      close: () => client.close(),
    });
  } catch (error) {
    throw explainUnattached(error, address);
  }
}

/** The identity of an image: its process id and start time. An image that does not give its start time has only the id. */
async function identify(client: SwankClient, command: typeof calls.processStart): Promise<string> {
  const asked = client.lisp.with({ timeout: ANSWER_TIME }).run(command);
  return `${client.info.pid} ${(await asked.catch(() => undefined)) ?? ""}`;
}

function secretOption({ secretFile, noSecret }: Config): { readonly file: string } | false | undefined {
  if (noSecret) return false;
  return secretFile === undefined ? undefined : { file: secretFile };
}
