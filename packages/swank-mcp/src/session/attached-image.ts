import { connect, type SwankClient, SwankError } from "swank-client";
import {
  ANSWER_TIME,
  awaitedLockOf,
  checkOf,
  imageDirectory,
  type NetworkPeer,
  tcpOpener,
} from "swank-client/protocol";
import { image } from "swank-client/swank";
import { addressText, type Config, type ImageAddress, tunnelTo } from "../base/config.js";
import { explainUnattached } from "../base/refusals.js";
import { type AttachedOrigin, LispSession } from "./image.js";

/** The origin of an attached image, with a warning if the connection crosses a network: Swank encrypts nothing. */
export function attachedOrigin(address: ImageAddress, peer: NetworkPeer | undefined): AttachedOrigin {
  const isOpen = peer?.isLoopback === false;
  return { kind: "attached", address: addressText(address), ...(isOpen ? { warning: unencrypted(address) } : {}) };
}

function unencrypted(address: ImageAddress): string {
  return `The connection to ${addressText(address)} is not encrypted, and anyone who can reach that port can run any code in the Lisp. Safer: let its Swank listen only on its own machine, ${tunnelTo(address)}.`;
}

const DEAD =
  "The connection was dead: nothing arrived on it, while a second connection to the same address was answered.";

const CALL_AGAIN = "Call again: the next call uses a new connection to the same image.";

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
  const { cacheDir, foreignErrors } = config;
  const secret = secretOption(config);
  try {
    const client = await connect({
      ...address,
      secret,
      foreignErrors,
      cacheDir,
      mayEndImage: false,
      agentName,
      signal,
    });
    const origin = attachedOrigin(address, client.connection.peer);
    const { connection } = client;
    const check = checkOf(client, {
      address: addressText(address),
      again: { opener: tcpOpener(address), secret },
      abandon: () => connection.drop(new SwankError("CONNECTION_LOST", DEAD, { remedy: CALL_AGAIN })),
    });
    return new LispSession({
      client,
      check,
      origin,
      remarks: [...(origin.warning === undefined ? [] : [origin.warning]), ...client.notes],
      identity: await identify(client),
      directory: (asked) => imageDirectory(client, asked),
      awaitedLock: () => awaitedLockOf(client),
      explainLoss: async () => `The connection to ${addressText(address)} was lost: ${(await client.closed).message}`,
      close: () => client.close(),
    });
  } catch (error) {
    throw explainUnattached(error, address);
  }
}

/** The identity of an image: its process id and start time. An image that does not give its start time has only the id. */
async function identify(client: SwankClient): Promise<string> {
  const asked = client.lisp.with({ timeout: ANSWER_TIME }).run(image.processStart);
  return `${client.info.pid} ${(await asked.catch(() => undefined)) ?? ""}`;
}

function secretOption({ secretFile, noSecret }: Config): { readonly file: string } | false | undefined {
  if (noSecret) return false;
  return secretFile === undefined ? undefined : { file: secretFile };
}
