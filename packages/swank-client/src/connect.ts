import { checkOptions, type OptionNames } from "./base/check-arguments.js";
import { SwankError } from "./base/errors.js";
import { SwankClient } from "./client.js";
import type { ClientOptions } from "./client-options.js";
import { type AttachOptions, attach, checkAttachOptions } from "./handshake/attach.js";
import {
  DEFAULT_TIMEOUT,
  OPEN_OPTIONS,
  type OpenedConnection,
  type OpenOptions,
  openConnection,
} from "./handshake/open-connection.js";
import { tcpOpener } from "./protocol/transport/tcp-transport.js";
import type { TransportOpener } from "./protocol/transport/transport.js";

/** Options for connecting to an image. */
export interface ConnectOptions extends OpenOptions, ClientOptions, AttachOptions {
  /** Name or address; default `127.0.0.1`. */
  readonly host?: string | undefined;
  /** Default 4005, Swank's default. */
  readonly port?: number | undefined;
  /** A transport to use instead of TCP, such as a socket inherited by a child process. */
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
 * Connects to the Swank server of a running image. Clients that are already connected keep receiving errors from background threads.
 *
 * @throws SwankError `CONNECTION_REFUSED`, `HOST_NOT_FOUND`, `HOST_UNREACHABLE`, `CONNECT_TIMEOUT`, `NOT_SWANK`, `SLYNK`, `UNSUPPORTED_LISP`,
 * `SWANK_TOO_OLD`, `NO_THREADS`, `SECRET_REJECTED`, `SECRET_UNREADABLE`, `UNRESPONSIVE`, `CANCELLED`, `INVALID_ARGUMENT`. Nothing is left
 * open then.
 */
export async function connect(options: ConnectOptions = {}): Promise<SwankClient> {
  checkConnectOptions(options);
  const { host, port, transport, ...others } = options;
  const opener = transport ?? tcpOpener({ host, port, timeout: options.timeout });
  return openClient(opener, others, (opened, own) => new SwankClient(opened, own));
}

/**
 * Connects over a transport, without disturbing the image's other clients.
 *
 * @param options - Already checked.
 * @param makeClient - Makes the client of the connection.
 * @throws SwankError the errors of `connect`.
 */
export async function openClient<Client extends SwankClient>(
  opener: TransportOpener,
  options: Omit<ConnectOptions, "host" | "port" | "transport">,
  makeClient: (opened: OpenedConnection, options: ClientOptions) => Client,
): Promise<Client> {
  const { runtime, mayEndImage, foreignErrors, ...open } = options;
  const deadline = performance.now() + (options.timeout ?? DEFAULT_TIMEOUT);
  const opened = await openConnection(opener, open);
  const client = makeClient(opened, { runtime, mayEndImage });
  try {
    await attach(within(client, deadline, options.signal), { foreignErrors });
    return client;
  } catch (error) {
    await client.close();
    throw isTimeout(error) ? unresponsive(opened.connection.description, error) : error;
  }
}

/** @throws SwankError `INVALID_ARGUMENT` */
export function checkConnectOptions(options: ConnectOptions): void {
  checkOptions("connect", options, CONNECT_OPTIONS);
  checkAttachOptions(options);
}

/** All calls share the remaining time. */
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
  return new SwankError("UNRESPONSIVE", `${description} accepted this client, and then stopped answering.`, { cause });
}
