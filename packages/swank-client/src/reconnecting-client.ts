import { setTimeout } from "node:timers/promises";
import { checkNumber, checkOptions, checkTimeout, type OptionNames } from "./base/check-arguments.js";
import { asSwankError, SwankError } from "./base/errors.js";
import { TypedEmitter } from "./base/typed-emitter.js";
import type { SwankClient } from "./client.js";
import { CONNECT_OPTIONS, type ConnectOptions, connect } from "./connect.js";
import { type Backoff, GrowingDelay } from "./growing-delay.js";
import { checkOpenOptions } from "./handshake/open-connection.js";
import { isPassing } from "./retrying.js";

/** Options for staying connected to an image. An aborted `signal` ends the attempts to connect, but closes no connection. */
export interface ReconnectOptions extends ConnectOptions {
  readonly backoff?: Backoff | undefined;
}

const RECONNECT_OPTIONS: OptionNames<ReconnectOptions> = { ...CONNECT_OPTIONS, backoff: true };
const BACKOFF_OPTIONS: OptionNames<Backoff> = { first: true, factor: true, longest: true, attempts: true };

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

const EVENTS: OptionNames<ReconnectEvents> = { connected: true, disconnected: true, failed: true, closed: true };

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

  /** @throws SwankError `INVALID_ARGUMENT` for unknown options. `client` reports other errors in them. */
  constructor(options: ReconnectOptions = {}) {
    checkReconnectOptions(options);
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
    const { backoff, signal: given, ...options } = this.#options;
    const attempts = backoff?.attempts ?? Number.POSITIVE_INFINITY;
    const signal = given === undefined ? this.#stop.signal : AbortSignal.any([given, this.#stop.signal]);
    let delay = wait;
    for (let attempt = 1; ; attempt += 1) {
      if (delay > 0) await setTimeout(delay, undefined, { signal }).catch(() => undefined);
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

function checkReconnectOptions(options: ReconnectOptions): void {
  checkOptions("ReconnectingClient", options, RECONNECT_OPTIONS);
  if (options.backoff !== undefined) checkBackoff(options.backoff);
  checkOpenOptions(options);
}

function checkBackoff(backoff: Backoff): void {
  checkOptions("backoff", backoff, BACKOFF_OPTIONS);
  const { first, factor = 1, longest, attempts = 1 } = backoff;
  checkTimeout("first", first);
  checkTimeout("longest", longest);
  checkNumber("factor", factor, "a number from 1", typeof factor === "number" && factor >= 1);
  checkNumber("attempts", attempts, "a number from 1", typeof attempts === "number" && attempts >= 1);
}
