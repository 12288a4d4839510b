import type { SwankError } from "../../base/errors.js";

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
}

/** Starts passing an opened stream's data to handlers. Call it once. */
export type TransportFactory = (handlers: TransportHandlers) => Transport;

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
}
