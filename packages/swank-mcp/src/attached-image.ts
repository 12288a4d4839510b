import type { commands, SwankClient } from "swank-client";
import type { Config } from "./config.js";
import { addressText, type ImageAddress } from "./image-address.js";
import { ANSWER_TIME, imageDirectory } from "./image-directory.js";
import { LispSession } from "./lisp-session.js";
import { Refusal } from "./refusal.js";

/** Codes that mean: nothing that could be talked to is there. */
const UNREACHABLE = new Set(["CONNECTION_REFUSED", "HOST_NOT_FOUND", "HOST_UNREACHABLE", "CONNECT_TIMEOUT"]);

/**
 * Connects to an image that somebody else started.
 *
 * @throws Refusal `LISP_UNREACHABLE` - with the form to type into the image; SwankError - when what is there cannot be used.
 */
export async function openAttachedImage(
  address: ImageAddress,
  config: Config,
  signal: AbortSignal,
): Promise<LispSession> {
  const { commands, connect } = await import("swank-client");
  const secret = config.secretFile === undefined ? undefined : { file: config.secretFile };
  try {
    const client = await connect({ ...address, secret, signal });
    return new LispSession({
      client,
      origin: { kind: "attached", address: addressText(address) },
      identity: await identify(client, commands.processStart),
      directory: (asked) => imageDirectory(client, commands.defaultDirectory, asked),
      explainLoss: async () => `The connection to ${addressText(address)} was lost: ${(await client.closed).message}`,
      close: () => client.close(),
    });
  } catch (error) {
    throw explained(error, address);
  }
}

/** An image that does not say when it started is known by its process id alone. */
async function identify(client: SwankClient, { name, encode, decode }: typeof commands.processStart): Promise<string> {
  const asked = client.call(encode(), { label: name, timeout: ANSWER_TIME }).then(decode);
  return `${client.info.pid} ${(await asked.catch(() => undefined)) ?? ""}`;
}

function explained(error: unknown, address: ImageAddress): unknown {
  if (!(error instanceof Error && "code" in error && UNREACHABLE.has(String(error.code)))) return error;
  return new Refusal("LISP_UNREACHABLE", `No Lisp can be reached. ${error.message}`, {
    cause: error,
    remedy: howToListen(address),
  });
}

function howToListen({ host, port }: ImageAddress): string {
  const form = `(swank:create-server :port ${port} :dont-close t)`;
  const tunnel = isLoopback(host)
    ? ""
    : ` Swank listens on its own machine only: forward the port with ssh -L ${port}:127.0.0.1:${port} ${host} and attach to ${port}.`;
  return `Ask the user to evaluate this in the image (in Emacs, in the SLIME REPL), then call again:
  ${form}
If there is no package SWANK there, (ql:quickload :swank) comes first.${tunnel}`;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}
