import { checkOptions, checkText, type OptionNames } from "./base/check-arguments.js";
import { SwankError } from "./base/errors.js";
import { connectionInfoWithoutRules } from "./calls/connection-info.js";
import { prepareArrival } from "./calls/prepare-arrival.js";
import { SwankClient } from "./client.js";
import type { ClientOptions } from "./client-options.js";
import { type AttachOptions, attach, attaching, checkAttachOptions } from "./handshake/attach.js";
import {
  checkOpenOptions,
  DEFAULT_TIMEOUT,
  OPEN_OPTIONS,
  type OpenedConnection,
  type OpenOptions,
  openWith,
} from "./handshake/open-connection.js";
import { callerOf } from "./lisp/caller.js";
import { CompiledModules } from "./lisp/compiled-modules.js";
import { EarlyLoading, type EarlyModule } from "./lisp/early-loading.js";
import { openingCall } from "./lisp/load-forms.js";
import { ModuleCache } from "./lisp/module-cache.js";
import { ModuleLoader } from "./lisp/module-loader.js";
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
  /**
   * The folder for the runtime's compiled modules, which images on this machine load. Default: in the user's cache folder. `false`: images
   * compile the modules.
   */
  readonly cacheDir?: string | false | undefined;
}

export const CONNECT_OPTIONS: OptionNames<ConnectOptions> = {
  ...OPEN_OPTIONS,
  host: true,
  port: true,
  transport: true,
  runtime: true,
  mayEndImage: true,
  agentName: true,
  foreignErrors: true,
  cacheDir: true,
};

/**
 * Connects to the Swank server of a running image. Clients that are already connected keep receiving errors from background threads.
 *
 * @throws SwankError `CONNECTION_REFUSED`, `HOST_NOT_FOUND`, `HOST_UNREACHABLE`, `CONNECT_TIMEOUT`, `CONNECT_FAILED`, `CONNECTION_LOST`,
 * `NOT_SWANK`, `SLYNK`, `UNSUPPORTED_LISP`, `SWANK_TOO_OLD`, `NO_THREADS`, `SECRET_REJECTED`, `SECRET_UNREADABLE`, `UNRESPONSIVE`,
 * `LOCK_HELD`, `CANCELLED`, `INVALID_ARGUMENT`. Nothing is left open then.
 */
export async function connect(options: ConnectOptions = {}): Promise<SwankClient> {
  checkConnectOptions(options);
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
  const { runtime, mayEndImage, agentName, foreignErrors, cacheDir, ...open } = options;
  const deadline = performance.now() + (options.timeout ?? DEFAULT_TIMEOUT);
  const cache = cacheDir === false ? undefined : new ModuleCache(cacheDir);
  const limits = () => ({ timeout: Math.max(1, deadline - performance.now()), signal: options.signal });
  // Threads that are given to this client at once could stop before it exists.
  const attachCall = foreignErrors === "mine" ? undefined : attaching({ foreignErrors });
  const evaluate: EarlyModule = { name: "evaluate", call: openingCall(prepareArrival) };
  const wanted: readonly EarlyModule[] = [
    { name: "connection", call: attachCall },
    ...(runtime === false ? [] : [evaluate]),
  ];
  const early = cache && new EarlyLoading(cache, wanted);
  const opened = await openWith(connectionInfoWithoutRules, openerWith(opener, early), open, (connection) => {
    if (connection.peer?.isLoopback === true) early?.begin(callerOf(connection), limits());
  });
  const loader = new ModuleLoader(callerOf(opened.connection), compiledFor(opened, cache), early);
  const client = makeClient(opened, { runtime, mayEndImage, agentName }, loader);
  try {
    const isAttached = await early?.hasLoaded("connection");
    if (attachCall === undefined || !isAttached) await attach(loader, { foreignErrors }, limits());
    return client;
  } catch (error) {
    await client.close();
    throw isTimeout(error) ? unresponsive(opened.connection.description, error) : error;
  }
}

/** The same opener, which looks for modules to load while the image accepts the connection. */
function openerWith(opener: TransportOpener, early: EarlyLoading | undefined): TransportOpener {
  if (opener.takesNoSecret === true) return opener;
  return (signal) => {
    const opening = opener(signal);
    early?.look();
    return opening;
  };
}

/** @throws SwankError `INVALID_ARGUMENT` */
export function checkConnectOptions(options: ConnectOptions): void {
  checkOptions("connect", options, CONNECT_OPTIONS);
  checkAttachOptions(options);
  checkOpenOptions(options);
  if (options.agentName !== undefined) checkText("agentName", options.agentName);
}

/** The compiled modules for an image that may be on this machine: through a tunnel, other machines have a loopback address too. */
function compiledFor({ connection, info }: OpenedConnection, cache: ModuleCache | undefined) {
  if (cache === undefined || connection.peer?.isLoopback !== true) return undefined;
  const { implementation, machine, version } = info;
  return new CompiledModules(cache, [implementation.version, implementation.program, machine.type, version]);
}

function isTimeout(error: unknown): boolean {
  return error instanceof SwankError && error.code === "REQUEST_TIMEOUT";
}

function unresponsive(description: string, cause: unknown): SwankError {
  return new SwankError("UNRESPONSIVE", `${description} accepted this client, and then stopped answering.`, { cause });
}
