import { connect, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { SwankError, type SwankErrorCode } from "../base/errors.js";
import { check, checkOptions, type OptionsOf } from "../base/options.js";
import { onLimit } from "../base/waiting.js";

/** What is known about the other end of a stream. */
interface DuplexOptions {
  /** The peer of a stream through a network. */
  readonly peer?: NetworkPeer | undefined;
  /**
   * Called when the stream has ended and this side did not end it. The transport ends when the promise resolves, with that error if there is
   * one. It must not reject. Default: the transport ends at once.
   */
  readonly explainEnd?: (() => Promise<SwankError | undefined>) | undefined;
}

/**
 * Makes a transport from an open stream, such as the end of an inherited socketpair in `child.stdio[3]`.
 *
 * The stream must emit `close` when it is destroyed, as Node's streams do by default.
 *
 * @param description - The other end, for messages.
 */
export function duplexTransport(duplex: Duplex, description: string, options: DuplexOptions = {}): TransportFactory {
  const start = (handlers: TransportHandlers) => new DuplexTransport(duplex, { description, ...options }, handlers);
  return Object.assign(start, { peer: options.peer });
}

class DuplexTransport implements Transport {
  readonly description: string;
  readonly peer: NetworkPeer | undefined;
  readonly #duplex: Duplex;
  readonly #handlers: TransportHandlers;
  readonly #explainEnd: DuplexOptions["explainEnd"];
  #error: SwankError | undefined;
  /** The stream has closed. */
  #isOver = false;
  #isEndedHere = false;
  #isReported = false;

  constructor(duplex: Duplex, target: DuplexOptions & Pick<Transport, "description">, handlers: TransportHandlers) {
    this.description = target.description;
    this.peer = target.peer;
    this.#explainEnd = target.explainEnd;
    this.#duplex = duplex;
    this.#handlers = handlers;
    // Reading continues even when output is queued: a Lisp that is blocked while it writes would never read again.
    duplex.on("data", this.#onData);
    duplex.once("end", this.#onEnd);
    duplex.on("error", this.#onError);
    duplex.once("close", this.#onClose);
    if (duplex.destroyed || duplex.readableEnded) queueMicrotask(this.#onMissedEnd);
  }

  get backlog(): number {
    return this.#duplex.writableLength;
  }

  send(bytes: Uint8Array): void {
    if (this.#duplex.writable) this.#duplex.write(bytes);
  }

  end(): void {
    this.#endHere();
    this.#duplex.end();
  }

  destroy(): void {
    this.#endHere();
    this.#duplex.destroy();
  }

  unref(): void {
    if (this.#duplex instanceof Socket) this.#duplex.unref();
  }

  readonly #onData = (chunk: Uint8Array): void => this.#handlers.onData(chunk);

  /** Swank closes both directions at once, so data written after the end are not read. */
  readonly #onEnd = (): void => void this.#duplex.destroy();

  /** `close` follows. Later errors are consequences of the first. */
  readonly #onError = (error: Error): void => {
    this.#error ??= this.#lost(error);
    this.#duplex.destroy();
  };

  /** Called at every ending: an error, the end by the other side, and `destroy` by this side. */
  readonly #onClose = (): void => {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#duplex.off("data", this.#onData);
    this.#duplex.off("end", this.#onEnd);
    if (this.#isEndedHere || this.#explainEnd === undefined) this.#report(this.#error);
    else void this.#explainEnd().then((reason) => this.#report(reason ?? this.#error));
  };

  /** Handles a stream that ended before it was passed to this transport. */
  readonly #onMissedEnd = (): void => {
    if (this.#duplex.errored) this.#onError(this.#duplex.errored);
    this.#duplex.destroy();
    this.#onClose();
  };

  /** Nobody waits for an explanation then. */
  #endHere(): void {
    this.#isEndedHere = true;
    if (this.#isOver) queueMicrotask(() => this.#report(this.#error));
  }

  #report(error: SwankError | undefined): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#handlers.onClose(error);
  }

  #lost(cause: Error): SwankError {
    return new SwankError("CONNECTION_LOST", `The connection to ${this.description} failed: ${cause.message}`, {
      cause,
    });
  }
}

/** A transport's callbacks. */
export interface TransportHandlers {
  /** Bytes arrived, in chunks of any size. The receiver owns the chunk. */
  onData(chunk: Uint8Array): void;
  /**
   * The transport has ended. Called exactly once; nothing is called afterwards.
   *
   * @param error - The error that ended it; `undefined` if either side closed it in an orderly way.
   */
  onClose(error?: SwankError): void;
}

/** The other end of a connection through a network. */
export interface NetworkPeer {
  readonly port: number;
  /** True if sent data does not leave the machine. */
  readonly isLoopback: boolean;
}

/** An open two-way stream of bytes to an image, without knowledge of messages. */
export interface Transport {
  /** The other end, for messages, e.g. `127.0.0.1:4005`. */
  readonly description: string;
  /** `undefined` if the connection does not go through a network. */
  readonly peer: NetworkPeer | undefined;
  /** Bytes accepted by {@link send} that the operating system has not taken yet. */
  readonly backlog: number;
  /** Queues bytes, in order. They are dropped silently after the transport has ended. */
  send(bytes: Uint8Array): void;
  /** Ends sending. Data from the other side is still received. */
  end(): void;
  /** Closes at once. */
  destroy(): void;
  /** Lets the process end while the stream is open. Default: it may not. */
  unref?(): void;
}

/** Starts passing an opened stream's data to handlers. Call it once. */
export interface TransportFactory {
  (handlers: TransportHandlers): Transport;
  /** The peer of its transport, if that is known before. */
  readonly peer?: NetworkPeer | undefined;
}

/**
 * Opens a transport to an image.
 *
 * @param signal - Cancels opening when aborted, and closes everything opened so far.
 * @throws SwankError if it cannot be opened: `CONNECTION_REFUSED`, `HOST_NOT_FOUND`, `CANCELLED` and similar codes.
 */
export interface TransportOpener {
  (signal?: AbortSignal): Promise<TransportFactory>;
  /** True if no secret is sent, because no other program can connect to the image. Default: false. */
  readonly takesNoSecret?: boolean;
  /** Names the server, if this process may open several connections to it. */
  readonly server?: string;
}

/** Swank's default port (swank.lisp, `default-server-port`). */
const DEFAULT_PORT = 4005;

const LAST_PORT = 65_535;

/** The form that makes an image accept any number of connections on a port. */
export function listenForm(port: number, options = ""): string {
  return `(swank:create-server :port ${port} :dont-close t${options})`;
}

/** A port for another server next to the one that was tried. */
export function portBeside(port = DEFAULT_PORT): number {
  return port === LAST_PORT ? port - 1 : port + 1;
}

/** True for an address that only processes of the same machine can reach (RFC 1122, RFC 4291), including IPv4 in IPv6 notation. */
export function isLoopback(address: string): boolean {
  return address === "::1" || /^(?:::ffff:)?127(?:\.\d+){3}$/i.test(address);
}

/** The usual notation, with IPv6 addresses in brackets. */
function hostAndPort(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The error codes of this package for the operating system's. */
const CODES: ReadonlyMap<string, SwankErrorCode> = new Map([
  ["ECONNREFUSED", "CONNECTION_REFUSED"],
  ["ENOTFOUND", "HOST_NOT_FOUND"],
  ["EAI_AGAIN", "HOST_NOT_FOUND"],
  ["EAI_NODATA", "HOST_NOT_FOUND"],
  ["EAI_NONAME", "HOST_NOT_FOUND"],
  ["EAI_FAIL", "HOST_NOT_FOUND"],
  ["EHOSTUNREACH", "HOST_UNREACHABLE"],
  ["ENETUNREACH", "HOST_UNREACHABLE"],
  ["EHOSTDOWN", "HOST_UNREACHABLE"],
  ["ENETDOWN", "HOST_UNREACHABLE"],
  ["EADDRNOTAVAIL", "HOST_UNREACHABLE"],
  ["ETIMEDOUT", "CONNECT_TIMEOUT"],
]);

/** The error for a connection that could not be opened. */
function connectError(cause: Error, host: string, port: number): SwankError {
  const systemCode = "code" in cause && typeof cause.code === "string" ? cause.code : "";
  const code = CODES.get(systemCode) ?? "CONNECT_FAILED";
  const remedy = code === "CONNECTION_REFUSED" ? refusedRemedy(port) : undefined;
  const where = hostAndPort(host, port);
  return new SwankError(code, `Cannot connect to ${where}: ${explain(code, systemCode, cause)}`, { cause, remedy });
}

function explain(code: SwankErrorCode, systemCode: string, cause: Error): string {
  switch (code) {
    case "CONNECTION_REFUSED":
      return "nothing listens there. A Swank without :dont-close t stops listening as soon as one client, such as Emacs, is connected.";
    case "HOST_NOT_FOUND":
      return `the name does not resolve (${systemCode}).`;
    case "HOST_UNREACHABLE":
      return `there is no route to the host (${systemCode}).`;
    case "CONNECT_TIMEOUT":
      return "the host does not answer.";
    default:
      return cause.message || systemCode;
  }
}

function refusedRemedy(port: number): string {
  return `Evaluate ${listenForm(port)} in the image; its other connections are not affected.`;
}

export const tcpOptions = {
  /** Name or address; default `127.0.0.1`. */
  host: check.text,
  /** 1 to 65535. Default 4005, Swank's default. */
  port: check.count(1, 65_535),
  /** Milliseconds to wait until the connection is accepted; default 10000. */
  timeout: check.milliseconds,
};

/** Options of a TCP connection. */
export interface TcpOptions extends OptionsOf<typeof tcpOptions> {}

/** A vanished peer is detected after about this many milliseconds of silence plus ten probes of 1 s. */
const KEEP_ALIVE_DELAY = 5000;

/**
 * Opens a TCP connection. The system's keep-alive probes detect a vanished peer; Lisp does not see them.
 *
 * @throws SwankError when called `INVALID_ARGUMENT`; when opening `CONNECTION_REFUSED`, `HOST_NOT_FOUND`, `HOST_UNREACHABLE`,
 * `CONNECT_TIMEOUT`, `CONNECT_FAILED`, `CANCELLED`
 */
export function tcpOpener(options: TcpOptions): TransportOpener {
  checkOptions("tcpOpener", options, tcpOptions);
  const { host = "127.0.0.1", port = 4005, timeout = 10_000 } = options;
  return Object.assign((signal?: AbortSignal) => openTcp(host, port, timeout, signal), {
    server: hostAndPort(host, port),
  });
}

function openTcp(host: string, port: number, timeout: number, signal?: AbortSignal): Promise<TransportFactory> {
  if (signal?.aborted) return Promise.reject(cancelled(host, port, signal));
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_DELAY });
    const release = () => {
      endLimits();
      socket.off("connect", onConnect);
    };
    const fail = (error: SwankError) => {
      release();
      socket.destroy();
      reject(error);
    };
    const onConnect = () => {
      release();
      const peer = { port, isLoopback: staysHere(socket, host) };
      resolve(duplexTransport(socket, hostAndPort(host, port), { peer }));
    };
    const endLimits = onLimit({ timeout, signal }, (limit) =>
      fail(limit === "signal" ? cancelled(host, port, signal) : timedOut(host, port, timeout)),
    );
    socket.once("connect", onConnect);
    // This listener is never removed: an error before the transport takes over must not end the process.
    socket.on("error", (error) => fail(connectError(error, host, port)));
  });
}

/** True if the data stays on this machine: for one of its network addresses, the local and the remote address are the same. */
function staysHere({ localAddress, remoteAddress }: Socket, host: string): boolean {
  return isLoopback(remoteAddress ?? host) || (remoteAddress !== undefined && remoteAddress === localAddress);
}

function cancelled(host: string, port: number, signal: AbortSignal | undefined): SwankError {
  return new SwankError("CANCELLED", `Connecting to ${hostAndPort(host, port)} was cancelled.`, {
    cause: signal?.reason,
  });
}

function timedOut(host: string, port: number, timeout: number): SwankError {
  const where = hostAndPort(host, port);
  return new SwankError("CONNECT_TIMEOUT", `${where} did not accept the connection within ${Math.round(timeout)} ms.`);
}
