import type { Duplex } from "node:stream";
import { SwankError } from "../../base/errors.js";
import type { NetworkPeer, Transport, TransportFactory, TransportHandlers } from "./transport.js";

/**
 * Makes a transport from an open stream, such as the end of an inherited socketpair in `child.stdio[3]`.
 *
 * The stream must emit `close` when it is destroyed, as Node's streams do by default.
 *
 * @param description - The other end, for messages.
 * @param peer - The peer of a stream through a network.
 */
export function duplexTransport(duplex: Duplex, description: string, peer?: NetworkPeer): TransportFactory {
  return (handlers) => new DuplexTransport(duplex, { description, peer }, handlers);
}

class DuplexTransport implements Transport {
  readonly description: string;
  readonly peer: NetworkPeer | undefined;
  readonly #duplex: Duplex;
  readonly #handlers: TransportHandlers;
  #error: SwankError | undefined;
  #isOver = false;

  constructor(duplex: Duplex, target: Pick<Transport, "description" | "peer">, handlers: TransportHandlers) {
    this.description = target.description;
    this.peer = target.peer;
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
    this.#duplex.end();
  }

  destroy(): void {
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
    this.#handlers.onClose(this.#error);
  };

  /** Handles a stream that ended before it was passed to this transport. */
  readonly #onMissedEnd = (): void => {
    if (this.#duplex.errored) this.#onError(this.#duplex.errored);
    this.#duplex.destroy();
    this.#onClose();
  };

  #lost(cause: Error): SwankError {
    return new SwankError("CONNECTION_LOST", `The connection to ${this.description} failed: ${cause.message}`, {
      cause,
    });
  }
}
