import { setTimeout as pause } from "node:timers/promises";
import { checkOptions, checkSignal, checkTimeout, type OptionNames } from "../base/check-arguments.js";
import { SwankError, type SwankErrorCode } from "../base/errors.js";
import { type ConnectionInfo, connectionInfo } from "../calls/connection-info.js";
import type { LispFunction } from "../lisp/descriptor.js";
import { type LispRunner, runnerOf } from "../lisp/lisp-runner.js";
import { Connection } from "../protocol/connection/connection.js";
import {
  CONNECTION_OPTIONS,
  type ConnectionOptions,
  checkConnectionTimes,
} from "../protocol/connection/connection-options.js";
import type { TransportOpener } from "../protocol/transport/transport.js";
import { checkImage } from "./check-image.js";
import { handshakeError, mayConnectAgain } from "./handshake-error.js";
import { type FoundSecret, findSecret, type SecretOption } from "./secret.js";

/** Milliseconds. */
export const DEFAULT_TIMEOUT = 10_000;

/**
 * The longest pauses, in milliseconds, before the next attempts to connect to a server that has reset the connection before it answered. Swank lets
 * five connections wait for it (swank/sbcl.lisp, `create-socket`), and the system resets others. Each pause has a random length, at least half of this.
 */
const PAUSES_AFTER_RESET = [100, 200, 400, 800];
/** Milliseconds that an attempt may take longer than all of them may. */
const MARGIN = 50;

/** Options for opening a connection. */
export interface OpenOptions extends Omit<ConnectionOptions, "secret"> {
  readonly secret?: SecretOption | undefined;
  /** Milliseconds for everything, from opening the transport to the first reply; default 10000. */
  readonly timeout?: number | undefined;
  /** Gives up when aborted, and rejects when the connection is closed: in milliseconds, or after a second if the server hangs. */
  readonly signal?: AbortSignal | undefined;
}

export const OPEN_OPTIONS: OptionNames<OpenOptions> = { ...CONNECTION_OPTIONS, timeout: true, signal: true };

/** A connection to a supported image. */
export interface OpenedConnection {
  readonly connection: Connection;
  readonly info: ConnectionInfo;
  /** Notes for the user about the connection, as sentences. */
  readonly notes: readonly string[];
}

/**
 * Opens the transport, sends the secret, and checks that a Swank with threads answers. Leaves nothing open if it fails.
 *
 * @throws SwankError the errors of the transport's opener, and `NOT_SWANK`, `SLYNK`, `UNSUPPORTED_LISP`, `SWANK_TOO_OLD`, `NO_THREADS`,
 * `SECRET_REJECTED`, `SECRET_UNREADABLE`, `CONNECTION_LOST`, `CANCELLED`, `INVALID_ARGUMENT`
 */
export async function openConnection(opener: TransportOpener, options: OpenOptions = {}): Promise<OpenedConnection> {
  checkOptions("openConnection", options, OPEN_OPTIONS);
  checkOpenOptions(options);
  return openWith(connectionInfo, opener, options);
}

/**
 * The same with another first request.
 *
 * @param firstRequest - Describes the image.
 * @param options - Already checked.
 * @param onSent - Called when the first request has been sent.
 * @throws SwankError the errors of `openConnection`.
 */
export async function openWith(
  firstRequest: LispFunction<[], ConnectionInfo>,
  opener: TransportOpener,
  options: OpenOptions,
  onSent?: (connection: Connection) => void,
): Promise<OpenedConnection> {
  const { timeout = DEFAULT_TIMEOUT, signal, secret, ...connectionOptions } = options;
  const found = opener.takesNoSecret === true ? undefined : await findSecret(secret);
  const deadline = performance.now() + timeout;
  const attempt: Attempt = { firstRequest, opener, secret: found, deadline, signal, onSent };
  const opening = openOnce(attempt, connectionOptions);
  if (opener.takesNoSecret === true) return opening;
  return opening.catch((error: unknown) => openAgain(attempt, connectionOptions, error));
}

/**
 * Tries again while the system resets the connection before the server answers.
 *
 * @throws SwankError the last such error when there is no time left, and any other error at once
 */
async function openAgain(attempt: Attempt, options: ConnectionOptions, failure: unknown): Promise<OpenedConnection> {
  let reset = failure;
  for (const longest of PAUSES_AFTER_RESET) {
    const wait = (longest * (1 + Math.random())) / 2;
    if (!mayConnectAgain(reset) || performance.now() + wait >= attempt.deadline) break;
    await pause(wait, undefined, { signal: attempt.signal }).catch(() => undefined);
    try {
      return await openInTime(attempt, options);
    } catch (error) {
      const isCancelled = error instanceof SwankError && error.code === "CANCELLED";
      if (isCancelled && attempt.signal?.aborted !== true) break;
      reset = error;
    }
  }
  throw reset;
}

/** One more attempt, which ends with the time of all. The signal for the opener is not aborted after that, because a socket may depend on it. */
async function openInTime(attempt: Attempt, options: ConnectionOptions): Promise<OpenedConnection> {
  const { deadline, signal } = attempt;
  const late = new AbortController();
  // Later than the first request's own timeout, whose error says more.
  const timer = setTimeout(() => late.abort(), Math.max(0, deadline - performance.now()) + MARGIN);
  const ending = AbortSignal.any(signal === undefined ? [late.signal] : [late.signal, signal]);
  try {
    return await openOnce({ ...attempt, signal: ending }, options);
  } finally {
    clearTimeout(timer);
  }
}

/** One attempt to open a connection. */
interface Attempt {
  readonly firstRequest: LispFunction<[], ConnectionInfo>;
  readonly opener: TransportOpener;
  readonly secret: FoundSecret | undefined;
  /** The time of `performance.now()` at which the wait for the first reply ends. */
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
  readonly onSent: ((connection: Connection) => void) | undefined;
}

async function openOnce(attempt: Attempt, connectionOptions: ConnectionOptions): Promise<OpenedConnection> {
  const { firstRequest, opener, secret, deadline, signal, onSent } = attempt;
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
    const lisp = runnerOf(connection).with({ timeout: remaining, signal });
    const description = describedBy(firstRequest, lisp);
    onSent?.(connection);
    const info = await description;
    checkImage(info, server);
    return { connection, info, notes: [secret?.warning, exposure].filter((note) => note !== undefined) };
  } catch (error) {
    // In order: Swank can stop for good, for all its clients, when its own writing fails.
    await connection.close();
    throw handshakeError(error, { ...server, secretSent: secret !== undefined, exposure, heard });
  } finally {
    stop();
  }
}

/** The codes of errors after which a server can still answer. */
const NOT_UNDERSTOOD: readonly SwankErrorCode[] = ["REQUEST_FAILED", "REQUEST_ABORTED", "REQUEST_UNREADABLE"];

/** What an image says of itself. A server that does not understand the first request, such as one for another language, is asked plainly. */
async function describedBy(firstRequest: LispFunction<[], ConnectionInfo>, lisp: LispRunner): Promise<ConnectionInfo> {
  try {
    return await lisp.run(firstRequest);
  } catch (error) {
    const isAnswer = error instanceof SwankError && NOT_UNDERSTOOD.includes(error.code);
    if (!isAnswer || firstRequest === connectionInfo) throw error;
    return lisp.run(connectionInfo);
  }
}

/** @throws SwankError `INVALID_ARGUMENT` for a time or a signal of another type, and for unknown options of the heartbeat. */
export function checkOpenOptions(options: Omit<OpenOptions, "secret">): void {
  checkTimeout("timeout", options.timeout);
  checkSignal(options.signal);
  checkConnectionTimes(options);
}

/** An application's own transport may reject with any value. */
function connectFailed(cause: unknown): never {
  if (cause instanceof SwankError) throw cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  throw new SwankError("CONNECT_FAILED", `The transport could not be opened: ${message}`, { cause });
}

/** A warning if the secret was sent over a network. */
function exposureOf({ peer, description }: Connection): string | undefined {
  if (peer === undefined || peer.isLoopback) return undefined;
  return `The secret was sent unencrypted to ${description}, which is another machine: anyone who can read the network traffic knows it now.`;
}
