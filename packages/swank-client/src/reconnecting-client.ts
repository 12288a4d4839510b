import { setTimeout } from "node:timers/promises";
import { checkOptions, type OptionNames } from "./check-options.js";
import type { SwankClient } from "./client.js";
import { CONNECT_OPTIONS, type ConnectOptions, connect } from "./connect.js";
import { checkHeartbeatOptions } from "./connection/connection-options.js";
import { TypedEmitter } from "./connection/typed-emitter.js";
import { asSwankError, SwankError } from "./errors.js";
import { isPassing } from "./retrying.js";

/** How long to wait between attempts to connect, in milliseconds. */
export interface Backoff {
  /** Before the second attempt. Default 100. */
  readonly first?: number | undefined;
  /** Each wait is that many times the one before. Default 2. */
  readonly factor?: number | undefined;
  /** No wait is longer. Default 10000. */
  readonly longest?: number | undefined;
  /** Attempts in a row before it gives up. Default: it never does. */
  readonly attempts?: number | undefined;
}

/** Which image to stay connected to. An aborted `signal` ends the attempts to connect; it does not close a connection. */
export interface ReconnectOptions extends ConnectOptions {
  readonly backoff?: Backoff | undefined;
}

const RECONNECT_OPTIONS: OptionNames<ReconnectOptions> = { ...CONNECT_OPTIONS, backoff: true };
const BACKOFF_OPTIONS: OptionNames<Backoff> = { first: true, factor: true, longest: true, attempts: true };

/** Events of a client that reconnects. */
export interface ReconnectEvents {
  /** There is a client: the first one, or a new one. */
  connected: SwankClient;
  /** The client's connection is over; what was pending on it is lost, and stays lost. */
  disconnected: SwankError;
  /** An attempt failed; the next one comes after `delay` milliseconds. */
  failed: { readonly attempt: number; readonly error: SwankError; readonly delay: number };
  /** It is over: closed, the attempts are used up, or an attempt failed in a way that no other attempt mends. Nothing follows. */
  closed: SwankError;
}

/**
 * Keeps a connection to one image: when it is lost, connects again, waiting longer after each failure. It ends with the first failure
 * that waiting does not mend, such as `INVALID_ARGUMENT` or `SECRET_REJECTED`.
 *
 * Nothing is ever sent twice: evaluations of a lost client end as `lost`, and the new client starts with a session of its own.
 */
export class ReconnectingClient extends TypedEmitter<ReconnectEvents> {
  readonly #options: ReconnectOptions;
  readonly #stop = new AbortController();
  #hasConnected = false;
  #current: Promise<SwankClient>;
  readonly #ended: Promise<void>;

  /** @throws SwankError `INVALID_ARGUMENT` for options that do not exist; whatever else is wrong with them, `client` tells. */
  constructor(options: ReconnectOptions = {}) {
    checkReconnectOptions(options);
    super(options.onListenerError);
    this.#options = options;
    this.#current = this.#connect();
    this.#ended = this.#follow();
  }

  /**
   * The client that is connected, or the next one to be.
   *
   * @throws SwankError of the last attempt when there will be none; `CONNECTION_CLOSED` after `close`.
   */
  client(): Promise<SwankClient> {
    return this.#current;
  }

  /** Closes the connection for good. Never rejects. */
  async close(): Promise<void> {
    this.#stop.abort();
    const client = await this.#current.catch(() => undefined);
    await client?.close();
    await this.#ended;
  }

  async #follow(): Promise<void> {
    try {
      for (;;) {
        const client = await this.#current;
        this.emit("connected", client);
        const reason = await client.closed;
        this.#current = this.#connect();
        this.#current.catch(() => undefined);
        this.emit("disconnected", reason);
      }
    } catch (error) {
      this.emit("closed", asSwankError(error));
    }
  }

  async #connect(): Promise<SwankClient> {
    const { backoff = {}, signal: wish, ...options } = this.#options;
    const { first = 100, factor = 2, longest = 10_000, attempts = Number.POSITIVE_INFINITY } = backoff;
    const signal = wish === undefined ? this.#stop.signal : AbortSignal.any([wish, this.#stop.signal]);
    let delay = first;
    for (let attempt = 1; ; attempt += 1) {
      this.#checkOpen();
      try {
        const client = await connect({ ...options, signal });
        this.#hasConnected = true;
        return client;
      } catch (reason) {
        this.#checkOpen();
        const error = asSwankError(reason);
        if (attempt >= attempts || !isPassing(error, this.#hasConnected)) throw error;
        this.emit("failed", { attempt, error, delay });
      }
      await setTimeout(delay, undefined, { signal }).catch(() => undefined);
      delay = Math.min(delay * factor, longest);
    }
  }

  #checkOpen(): void {
    if (this.#stop.signal.aborted) throw new SwankError("CONNECTION_CLOSED", "This side closed the connection.");
  }
}

function checkReconnectOptions(options: ReconnectOptions): void {
  checkOptions("ReconnectingClient", options, RECONNECT_OPTIONS);
  if (options.backoff !== undefined) checkOptions("backoff", options.backoff, BACKOFF_OPTIONS);
  checkHeartbeatOptions(options);
}
