import { connect, type Socket } from "node:net";
import { checkNumber, checkOptions, checkText, checkTimeout, type OptionNames } from "../../base/check-arguments.js";
import { SwankError } from "../../base/errors.js";
import { connectError } from "./connect-error.js";
import { duplexTransport } from "./duplex-transport.js";
import { hostAndPort, isLoopback } from "./host.js";
import type { TransportFactory, TransportOpener } from "./transport.js";

/** Options of a TCP connection. */
export interface TcpOptions {
  /** Name or address; default `127.0.0.1`. */
  readonly host?: string | undefined;
  /** 1 to 65535. Default 4005, Swank's default. */
  readonly port?: number | undefined;
  /** Milliseconds to wait until the connection is accepted; default 10000. */
  readonly timeout?: number | undefined;
}

const TCP_OPTIONS: OptionNames<TcpOptions> = { host: true, port: true, timeout: true };

/** A vanished peer is detected after about this many milliseconds of silence plus ten probes of 1 s. */
const KEEP_ALIVE_DELAY = 5000;

/**
 * Opens a TCP connection. The system's keep-alive probes detect a vanished peer; Lisp does not see them.
 *
 * @throws SwankError when called `INVALID_ARGUMENT`; when opening `CONNECTION_REFUSED`, `HOST_NOT_FOUND`, `HOST_UNREACHABLE`,
 * `CONNECT_TIMEOUT`, `CONNECT_FAILED`, `CANCELLED`
 */
export function tcpOpener(options: TcpOptions): TransportOpener {
  checkOptions("tcpOpener", options, TCP_OPTIONS);
  const { host = "127.0.0.1", port = 4005, timeout = 10_000 } = options;
  checkText("host", host);
  checkNumber("port", port, "a whole number from 1 to 65535", Number.isInteger(port) && port > 0 && port < 65536);
  checkTimeout("timeout", timeout);
  return (signal) => openTcp(host, port, timeout, signal);
}

function openTcp(host: string, port: number, timeout: number, signal?: AbortSignal): Promise<TransportFactory> {
  if (signal?.aborted) return Promise.reject(cancelled(host, port, signal));
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_DELAY });
    const release = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
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
    const onAbort = () => fail(cancelled(host, port, signal));
    const timer = setTimeout(() => fail(timedOut(host, port, timeout)), timeout);
    signal?.addEventListener("abort", onAbort, { once: true });
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
  return new SwankError("CONNECT_TIMEOUT", `${where} did not accept the connection within ${timeout} ms.`);
}
