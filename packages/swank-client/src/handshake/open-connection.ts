import { checkOptions, type OptionNames } from "../check-options.js";
import { type ConnectionInfo, connectionInfo } from "../commands/connection-info.js";
import { runCommand } from "../commands/run-command.js";
import { Connection } from "../connection/connection.js";
import { CONNECTION_OPTIONS, type ConnectionOptions, checkHeartbeatOptions } from "../connection/connection-options.js";
import { SwankError } from "../errors.js";
import type { TransportOpener } from "../transport/transport.js";
import { checkImage } from "./check-image.js";
import { handshakeError } from "./handshake-error.js";
import { findSecret, type SecretOption } from "./secret.js";

/** Milliseconds. */
export const DEFAULT_TIMEOUT = 10_000;

/** How to open a connection. */
export interface OpenOptions extends Omit<ConnectionOptions, "secret"> {
  readonly secret?: SecretOption | undefined;
  /** Milliseconds for everything, from opening the transport to the first reply; default 10000. */
  readonly timeout?: number | undefined;
  /** Gives up when aborted. */
  readonly signal?: AbortSignal | undefined;
}

export const OPEN_OPTIONS: OptionNames<OpenOptions> = { ...CONNECTION_OPTIONS, timeout: true, signal: true };

/** A connection to an image that is known to be usable. */
export interface OpenedConnection {
  readonly connection: Connection;
  readonly info: ConnectionInfo;
  /** What a user may want to know about it, sentences. */
  readonly notes: readonly string[];
}

/**
 * Opens the transport, gives the secret, and makes sure that a Swank with threads answers. Leaves nothing open when it fails.
 *
 * @throws SwankError what the transport's opener throws, and `NOT_SWANK`, `SLYNK`, `UNSUPPORTED_LISP`, `SWANK_TOO_OLD`, `NO_THREADS`,
 * `SECRET_REJECTED`, `SECRET_UNREADABLE`, `CONNECTION_LOST`, `CANCELLED`, `INVALID_ARGUMENT`
 */
export async function openConnection(opener: TransportOpener, options: OpenOptions = {}): Promise<OpenedConnection> {
  checkOptions("openConnection", options, OPEN_OPTIONS);
  const { timeout = DEFAULT_TIMEOUT, signal, secret: source, ...connectionOptions } = options;
  checkHeartbeatOptions(connectionOptions);
  const secret = opener.takesNoSecret === true ? undefined : await findSecret(source);
  const deadline = performance.now() + timeout;
  const factory = await opener(signal).catch(connectFailed);
  const connection = new Connection(factory, { ...connectionOptions, secret: secret?.text });
  const exposure = secret === undefined ? undefined : exposureOf(connection);
  const server = { description: connection.description, port: connection.peer?.port };
  let heard = false;
  const stop = connection.on("event", () => {
    heard = true;
  });
  try {
    const remaining = Math.max(1, deadline - performance.now());
    const info = await runCommand(connection, connectionInfo, [], { timeout: remaining, signal });
    checkImage(info, server);
    return { connection, info, notes: [secret?.warning, exposure].filter((note) => note !== undefined) };
  } catch (error) {
    // Who has not said a word of Swank would not understand a goodbye.
    await (heard ? connection.close() : connection.drop());
    throw handshakeError(error, { ...server, secretSent: secret !== undefined, exposure, heard });
  } finally {
    stop();
  }
}

/** A transport of the application's may reject with anything. */
function connectFailed(cause: unknown): never {
  if (cause instanceof SwankError) throw cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  throw new SwankError("CONNECT_FAILED", `The transport could not be opened: ${message}`, { cause });
}

/** What sending a secret over a network means. */
function exposureOf({ peer, description }: Connection): string | undefined {
  if (peer === undefined || peer.isLoopback) return undefined;
  return `The secret was sent to ${description}, which is another machine, and nothing encrypted it: whoever can read the network knows it now.`;
}
