import { setTimeout as pause } from "node:timers/promises";
import { asSwankError, SwankError, type SwankErrorCode } from "./base/errors.js";
import { TypedEmitter } from "./base/events.js";
import { check, checkOptions, type EventNames, type OptionsOf } from "./base/options.js";
import { eitherSignal } from "./base/waiting.js";
import type { SwankClient } from "./client.js";
import { connect, connectOptions } from "./connect.js";

const backoff = {
  /** Before the second attempt. Default 100. */
  first: check.milliseconds,
  /** The factor by which each wait is longer than the one before. Default 2. */
  factor: check.number("a number from 1", (factor) => factor >= 1),
  /** The longest wait. Default 10000. A connection that lasts this long resets the waits. */
  longest: check.milliseconds,
  /** Consecutive attempts that may fail before it gives up. Default: no limit. */
  attempts: check.number("a number from 1", (attempts) => attempts >= 1),
};

/** Waiting times between attempts to connect, in milliseconds. */
export interface Backoff extends OptionsOf<typeof backoff> {}

/** The waits of one client. Each is longer than the one before, until a connection is stable. */
class GrowingDelay {
  readonly #first: number;
  readonly #factor: number;
  readonly #longest: number;
  #next: number;

  constructor({ first = 100, factor = 2, longest = 10_000 }: Backoff) {
    this.#first = first;
    this.#factor = factor;
    this.#longest = longest;
    this.#next = first;
  }

  /** Milliseconds to wait after a failed attempt. */
  next(): number {
    const delay = this.#next;
    this.#next = Math.min(delay * this.#factor, this.#longest);
    return delay;
  }

  /**
   * Milliseconds to wait after a lost connection: 0 after a stable one. Without this wait, a server that accepts clients and closes at once
   * would be flooded with connections.
   *
   * @param lifetime - Milliseconds that the connection lasted.
   */
  afterLoss(lifetime: number): number {
    if (lifetime < this.#longest) return this.next();
    this.#next = this.#first;
    return 0;
  }
}

/**
 * The codes of failed attempts to connect that may succeed later without a change by a person: name servers, for example, are unreachable until
 * the network is up. A rejected secret is not among them: each further attempt would make a restarted Swank stop accepting clients.
 */
const PASSING: ReadonlySet<SwankErrorCode> = new Set([
  "CONNECTION_REFUSED",
  "HOST_NOT_FOUND",
  "HOST_UNREACHABLE",
  "CONNECT_TIMEOUT",
  "CONNECT_FAILED",
  "CONNECTION_LOST",
  "UNRESPONSIVE",
  "BACKLOG_FULL",
  "REQUEST_TIMEOUT",
  "LOCK_HELD",
  "REQUEST_ABORTED",
  "NO_SUCH_THREAD",
  "WAIT_TIMEOUT",
  "FRAME_EVALUATION_TIMEOUT",
]);

/**
 * Whether to connect again after a failed attempt.
 *
 * @param answered - True if a Swank answered with these options before: silence then means that it is suspended or hangs.
 */
function isPassing({ code, cause }: SwankError, answered: boolean): boolean {
  if (PASSING.has(code)) return true;
  // A tunnel accepts a connection, and closes it if nothing listens at the other end.
  const isClosed = causedBy(cause, "CONNECTION_LOST");
  if (code === "NOT_SWANK") return isClosed || (answered && causedBy(cause, "REQUEST_TIMEOUT"));
  return code === "SECRET_REJECTED" && isClosed && answered;
}

function causedBy(cause: unknown, code: SwankErrorCode): boolean {
  return cause instanceof Error && "code" in cause && cause.code === code;
}

const reconnectOptions = { ...connectOptions, backoff: check.options(backoff) };

/** Options for staying connected to an image. An aborted `signal` ends the attempts to connect, but closes no connection. */
export interface ReconnectOptions extends OptionsOf<typeof reconnectOptions> {}

/** Events of a client that reconnects. */
export interface ReconnectEvents {
  /** A client has connected: the first one, or a new one. */
  connected: SwankClient;
  /** The client's connection has ended. Its pending requests are lost, and are not repeated. */
  disconnected: SwankError;
  /** An attempt failed. The next one follows after `delay` milliseconds. */
  failed: { readonly attempt: number; readonly error: SwankError; readonly delay: number };
  /** The last event: it was closed, the attempts are used up, or an attempt failed with an error that retrying cannot fix. */
  closed: SwankError;
}

const EVENTS: EventNames<ReconnectEvents> = { connected: true, disconnected: true, failed: true, closed: true };

/**
 * Keeps a connection to one image. When it is lost, connects again, waiting longer after each failure and after each short connection.
 * Ends with the first failure that waiting cannot fix, such as `INVALID_ARGUMENT` or `SECRET_REJECTED`.
 *
 * Nothing is sent twice: evaluations of a lost client end as `lost`, and the new client starts with a new session.
 */
export class ReconnectingClient extends TypedEmitter<ReconnectEvents> {
  readonly #options: ReconnectOptions;
  readonly #delay: GrowingDelay;
  readonly #stop = new AbortController();
  #hasConnected = false;
  #current: Promise<SwankClient>;
  readonly #ended: Promise<void>;

  /** @throws SwankError `INVALID_ARGUMENT` for unknown options and wrong values. */
  constructor(options: ReconnectOptions = {}) {
    checkOptions("ReconnectingClient", options, reconnectOptions);
    super(EVENTS, options.onListenerError);
    this.#options = options;
    this.#delay = new GrowingDelay(options.backoff ?? {});
    this.#current = this.#connect(0);
    this.#ended = this.#follow();
  }

  /**
   * The connected client, or the next one to connect.
   *
   * @throws SwankError the error of the last attempt if there will be no client; `CONNECTION_CLOSED` after `close`.
   */
  client(): Promise<SwankClient> {
    return this.#current;
  }

  /** Closes the connection and does not reconnect. Never rejects. */
  async close(): Promise<void> {
    this.#stop.abort();
    const client = await this.#current.catch(() => undefined);
    await client?.close();
    await this.#ended;
  }

  /** Closes the client at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #follow(): Promise<void> {
    try {
      for (;;) {
        const client = await this.#current;
        const since = performance.now();
        this.emit("connected", client);
        const reason = await client.closed;
        this.#current = this.#connect(this.#delay.afterLoss(performance.now() - since));
        this.#current.catch(() => undefined);
        this.emit("disconnected", reason);
      }
    } catch (error) {
      this.emit("closed", asSwankError(error));
    }
  }

  /** @param wait - Milliseconds before the first attempt. */
  async #connect(wait: number): Promise<SwankClient> {
    const { backoff: waits, signal: given, ...options } = this.#options;
    const attempts = waits?.attempts ?? Number.POSITIVE_INFINITY;
    const signal = eitherSignal(given, this.#stop.signal);
    let delay = wait;
    for (let attempt = 1; ; attempt += 1) {
      if (delay > 0) await pause(delay, undefined, { signal }).catch(() => undefined);
      this.#checkOpen();
      try {
        const client = await connect({ ...options, signal });
        this.#hasConnected = true;
        return client;
      } catch (reason) {
        this.#checkOpen();
        const error = asSwankError(reason);
        if (attempt >= attempts || !isPassing(error, this.#hasConnected)) throw error;
        delay = this.#delay.next();
        this.emit("failed", { attempt, error, delay });
      }
    }
  }

  #checkOpen(): void {
    if (this.#stop.signal.aborted) throw new SwankError("CONNECTION_CLOSED", "This side closed the connection.");
  }
}
