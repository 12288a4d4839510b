import type { SwankError } from "../errors.js";

/** What a transport tells its owner. */
export interface TransportHandlers {
  /** Bytes came, in any division. The chunk belongs to the receiver. */
  onData(chunk: Uint8Array): void;
  /**
   * It is over, in whatever way; called exactly once, and nothing is called afterwards.
   *
   * @param error - What broke it; `undefined` when the other side ended it in good order or this side asked for the end.
   */
  onClose(error?: SwankError): void;
}

/** The other end of a connection through a network. */
export interface NetworkPeer {
  readonly port: number;
  /** Nothing that is sent leaves the machine. */
  readonly isLoopback: boolean;
}

/** An open two-way stream of bytes to an image. It knows no messages. */
export interface Transport {
  /** What it leads to, for messages, e.g. `127.0.0.1:4005`. */
  readonly description: string;
  /** `undefined` where there is no network between. */
  readonly peer: NetworkPeer | undefined;
  /** Bytes accepted by {@link send} that the operating system has not taken yet. */
  readonly backlog: number;
  /** Queues bytes, in order; dropped without a word once the transport is over. */
  send(bytes: Uint8Array): void;
  /** Tells the other side that nothing more will be sent; what it still sends is received. */
  end(): void;
  /** Closes at once. */
  destroy(): void;
}

/** Starts the flow of an opened stream into handlers. Call it once. */
export type TransportFactory = (handlers: TransportHandlers) => Transport;

/**
 * Opens the way to an image.
 *
 * @param signal - Gives up when aborted; what was opened by then is closed.
 * @throws SwankError when there is no way: `CONNECTION_REFUSED`, `HOST_NOT_FOUND`, `CANCELLED` and the like.
 */
export interface TransportOpener {
  (signal?: AbortSignal): Promise<TransportFactory>;
  /** The image asks for no secret, because nothing else can connect to it; none is sent. Default: false. */
  readonly takesNoSecret?: boolean;
}
