import { type AttachOptions, attach, checkAttachOptions } from "./attach.js";
import { type ClientOptions, SwankClient } from "./client.js";
import { type OpenOptions, openConnection } from "./handshake/open-connection.js";
import { tcpOpener } from "./transport/tcp-transport.js";
import type { TransportOpener } from "./transport/transport.js";

/** Which image to connect to, and how. */
export interface ConnectOptions extends OpenOptions, ClientOptions, AttachOptions {
  /** Name or address; default `127.0.0.1`. */
  readonly host?: string | undefined;
  /** Default 4005, Swank's own. */
  readonly port?: number | undefined;
  /** Another way to the image than TCP, such as a socket inherited by a child process. */
  readonly transport?: TransportOpener | undefined;
}

/**
 * Connects to the Swank server of a running image, beside whoever is connected already: errors of the image's other threads go on going to them.
 *
 * @throws SwankError `CONNECTION_REFUSED`, `HOST_NOT_FOUND`, `HOST_UNREACHABLE`, `CONNECT_TIMEOUT`, `NOT_SWANK`, `SLYNK`, `UNSUPPORTED_LISP`,
 * `SWANK_TOO_OLD`, `NO_THREADS`, `SECRET_REJECTED`, `SECRET_UNREADABLE`, `CANCELLED`, `INVALID_ARGUMENT`. Nothing is left open then.
 */
export async function connect(options: ConnectOptions = {}): Promise<SwankClient> {
  checkAttachOptions(options);
  const { connection, info } = await openConnection(options.transport ?? tcpOpener(options), options);
  const client = new SwankClient(connection, info, options);
  try {
    await attach(client, options);
    return client;
  } catch (error) {
    await client.close();
    throw error;
  }
}
