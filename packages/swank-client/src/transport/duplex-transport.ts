import type { Duplex } from "node:stream";
import { SwankError } from "../errors.js";
import type { NetworkPeer, Transport, TransportFactory, TransportHandlers } from "./transport.js";

/**
 * Makes a transport of a stream that is open already, such as an inherited socketpair's end in `child.stdio[3]`.
 *
 * The stream must emit `close` when it is destroyed, as Node's streams do by default.
 *
 * @param description - What it leads to, for messages.
 * @param peer - For a stream through a network.
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
    // Reading goes on whatever waits to be sent: a Lisp that is blocked while it writes would never read again.
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

  /** Swank closes both directions at once, so there is nobody left to write to. */
  readonly #onEnd = (): void => void this.#duplex.destroy();

  /** `close` follows. Errors after the first say nothing new. */
  readonly #onError = (error: Error): void => {
    this.#error ??= this.#lost(error);
    this.#duplex.destroy();
  };

  /** Every ending leads here: an error, the other side's end, and this side's `destroy`. */
  readonly #onClose = (): void => {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#duplex.off("data", this.#onData);
    this.#duplex.off("end", this.#onEnd);
    this.#handlers.onClose(this.#error);
  };

  /** The stream ended between being opened and being handed over here. */
  readonly #onMissedEnd = (): void => {
    if (this.#duplex.errored) this.#onError(this.#duplex.errored);
    this.#duplex.destroy();
    this.#onClose();
  };

  #lost(cause: Error): SwankError {
    return new SwankError("CONNECTION_LOST", `The connection to ${this.description} broke: ${cause.message}`, {
      cause,
    });
  }
}
