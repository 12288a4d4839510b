import type { Duplex } from "node:stream";
import { SwankError } from "../../base/errors.js";
import type { NetworkPeer, Transport, TransportFactory, TransportHandlers } from "./transport.js";

/** What is known about the other end of a stream. */
export interface DuplexOptions {
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
  return (handlers) => new DuplexTransport(duplex, { description, ...options }, handlers);
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
