import { SwankError } from "./base/errors.js";
import { check, checkOptions, type OptionsOf } from "./base/options.js";
import { type ClientOptions, clientOptions, SwankClient } from "./client.js";
import {
  abilitiesOf,
  attach,
  attachOptions,
  connectionInfoWithoutRules,
  DEFAULT_TIMEOUT,
  type OpenedConnection,
  openOptions,
  openWith,
} from "./handshake/handshake.js";
import { callerOf } from "./runtime/caller.js";
import { moduleFolder } from "./runtime/compiled.js";
import { ModuleLoader } from "./runtime/loader.js";
import { type TransportOpener, tcpOpener, tcpOptions } from "./wire/transport.js";

export const connectOptions = {
  ...tcpOptions,
  ...openOptions,
  ...clientOptions,
  ...attachOptions,
  /** A transport to use instead of TCP, such as a socket inherited by a child process. */
  transport: check.any<TransportOpener>(),
  /**
   * The folder for the runtime's compiled modules, which images on this machine load. Default: in the user's cache folder. `false`: images
   * compile the modules.
   */
  cacheDir: check.any<string | false>(),
};

/** Options for connecting to an image. */
export interface ConnectOptions extends OptionsOf<typeof connectOptions> {}

/**
 * Connects to the Swank server of a running image. Clients that are already connected keep receiving errors from background threads.
 *
 * @throws SwankError `CONNECTION_REFUSED`, `HOST_NOT_FOUND`, `HOST_UNREACHABLE`, `CONNECT_TIMEOUT`, `CONNECT_FAILED`, `CONNECTION_LOST`,
 * `NOT_SWANK`, `SLYNK`, `SWANK_TOO_OLD`, `NO_THREADS`, `SECRET_REJECTED`, `SECRET_UNREADABLE`, `UNRESPONSIVE`,
 * `LOCK_HELD`, `CANCELLED`, `INVALID_ARGUMENT`. Nothing is left open then.
 */
export async function connect(options: ConnectOptions = {}): Promise<SwankClient> {
  checkOptions("connect", options, connectOptions);
  const { host, port, transport, ...others } = options;
  const opener = transport ?? tcpOpener({ host, port, timeout: options.timeout });
  return openClient(opener, others, (...parts) => new SwankClient(...parts));
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
  makeClient: (opened: OpenedConnection, options: ClientOptions, loader: ModuleLoader) => Client,
): Promise<Client> {
  const { runtime, mayEndImage, threadOutput, sessionForms, agentName, foreignErrors, cacheDir, ...open } = options;
  const deadline = performance.now() + (options.timeout ?? DEFAULT_TIMEOUT);
  const opened = await openWith(connectionInfoWithoutRules, opener, open);
  const loader = new ModuleLoader(callerOf(opened.connection), await folderFor(opened, cacheDir));
  const client = makeClient(opened, { runtime, mayEndImage, threadOutput, sessionForms, agentName }, loader);
  try {
    const timeout = Math.max(1, deadline - performance.now());
    await attach(opened.connection, loader, client.abilities, { foreignErrors }, { timeout, signal: options.signal });
    return client;
  } catch (error) {
    await client.close();
    throw isTimeout(error) ? unresponsive(opened.connection.description, error) : error;
  }
}

/** The modules for an image that may be on this machine: through a tunnel, other machines have a loopback address too. */
async function folderFor({ connection, info }: OpenedConnection, cacheDir: string | false | undefined) {
  if (cacheDir === false || connection.peer?.isLoopback !== true) return undefined;
  const { implementation, machine, version } = info;
  return moduleFolder(abilitiesOf(info).kind, cacheDir, [
    implementation.version,
    implementation.program,
    machine.type,
    version,
  ]);
}

function isTimeout(error: unknown): boolean {
  return error instanceof SwankError && error.code === "REQUEST_TIMEOUT";
}

function unresponsive(description: string, cause: unknown): SwankError {
  return new SwankError("UNRESPONSIVE", `${description} accepted this client, and then stopped answering.`, { cause });
}
