import { type AttachOptions, attach, checkAttachOptions } from "./attach.js";
import { checkOptions, type OptionNames } from "./check-options.js";
import { type ClientOptions, SwankClient } from "./client.js";
import { SwankError } from "./errors.js";
import { DEFAULT_TIMEOUT, OPEN_OPTIONS, type OpenOptions, openConnection } from "./handshake/open-connection.js";
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

export const CONNECT_OPTIONS: OptionNames<ConnectOptions> = {
  ...OPEN_OPTIONS,
  host: true,
  port: true,
  transport: true,
  runtime: true,
  mayEndImage: true,
  foreignErrors: true,
};

/**
 * Connects to the Swank server of a running image, beside whoever is connected already: errors of the image's other threads go on going to them.
 *
 * @throws SwankError `CONNECTION_REFUSED`, `HOST_NOT_FOUND`, `HOST_UNREACHABLE`, `CONNECT_TIMEOUT`, `NOT_SWANK`, `SLYNK`, `UNSUPPORTED_LISP`,
 * `SWANK_TOO_OLD`, `NO_THREADS`, `SECRET_REJECTED`, `SECRET_UNREADABLE`, `UNRESPONSIVE`, `CANCELLED`, `INVALID_ARGUMENT`. Nothing is left
 * open then.
 */
export async function connect(options: ConnectOptions = {}): Promise<SwankClient> {
  checkConnectOptions(options);
  const { host, port, transport, runtime, mayEndImage, foreignErrors, ...open } = options;
  const deadline = performance.now() + (options.timeout ?? DEFAULT_TIMEOUT);
  const { connection, info, notes } = await openConnection(
    transport ?? tcpOpener({ host, port, timeout: open.timeout }),
    open,
  );
  const client = new SwankClient(connection, info, { runtime, mayEndImage }, notes);
  try {
    await attach(within(client, deadline, options.signal), { foreignErrors });
    return client;
  } catch (error) {
    await client.close();
    throw isTimeout(error) ? unresponsive(connection.description, error) : error;
  }
}

/** @throws SwankError `INVALID_ARGUMENT` */
export function checkConnectOptions(options: ConnectOptions): void {
  checkOptions("connect", options, CONNECT_OPTIONS);
  checkAttachOptions(options);
}

/** Calls share the time that is left, however many there are. */
function within(client: SwankClient, deadline: number, signal: AbortSignal | undefined): Pick<SwankClient, "call"> {
  return {
    call: (form, options) => {
      const timeout = Math.max(1, deadline - performance.now());
      return client.call(form, { ...options, timeout, ...(signal === undefined ? {} : { signal }) });
    },
  };
}

function isTimeout(error: unknown): boolean {
  return error instanceof SwankError && error.code === "REQUEST_TIMEOUT";
}

function unresponsive(description: string, cause: unknown): SwankError {
  return new SwankError("UNRESPONSIVE", `${description} let this client in, and then stopped answering.`, { cause });
}
