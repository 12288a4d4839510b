import { type ConnectionInfo, connectionInfo } from "../commands/connection-info.js";
import { runCommand } from "../commands/run-command.js";
import { Connection } from "../connection/connection.js";
import type { ConnectionOptions } from "../connection/connection-options.js";
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

/** A connection to an image that is known to be usable. */
export interface OpenedConnection {
  readonly connection: Connection;
  readonly info: ConnectionInfo;
}

/**
 * Opens the transport, gives the secret, and makes sure that a Swank with threads answers. Leaves nothing open when it fails.
 *
 * @throws SwankError what the transport's opener throws, and `NOT_SWANK`, `SLYNK`, `UNSUPPORTED_LISP`, `SWANK_TOO_OLD`, `NO_THREADS`,
 * `SECRET_REJECTED`, `SECRET_UNREADABLE`, `CONNECTION_LOST`, `CANCELLED`, `INVALID_ARGUMENT`
 */
export async function openConnection(opener: TransportOpener, options: OpenOptions = {}): Promise<OpenedConnection> {
  const { timeout = DEFAULT_TIMEOUT, signal } = options;
  const secret = await findSecret(options.secret);
  const deadline = performance.now() + timeout;
  const connection = new Connection(await opener(signal), { ...options, secret });
  const server = { description: connection.description, port: connection.peer?.port };
  let heard = false;
  const stop = connection.on("event", () => {
    heard = true;
  });
  try {
    const remaining = Math.max(1, deadline - performance.now());
    const info = await runCommand(connection, connectionInfo, [], { timeout: remaining, signal });
    checkImage(info, server);
    return { connection, info };
  } catch (error) {
    // Who has not said a word of Swank would not understand a goodbye.
    await (heard ? connection.close() : connection.drop());
    throw handshakeError(error, { ...server, secretSent: secret !== undefined, heard });
  } finally {
    stop();
  }
}
