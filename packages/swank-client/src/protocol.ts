/**
 * Transports, messages, and connections without a client.
 *
 * @module swank-client/protocol
 */

export type { OpenedConnection, OpenOptions } from "./handshake/open-connection.js";
export { openConnection } from "./handshake/open-connection.js";
export type { SecretOption } from "./handshake/secret.js";
export { runnerOf } from "./lisp/lisp-runner.js";
export { unservedReason } from "./lisp/lock-watch.js";
export { Connection } from "./protocol/connection/connection.js";
export type { ConnectionEvents, ConnectionOptions } from "./protocol/connection/connection-options.js";
export type { ReplyPolicy } from "./protocol/connection/default-replies.js";
export type { HeartbeatOptions } from "./protocol/connection/heartbeat.js";
export type { RequestOptions } from "./protocol/connection/requests.js";
export { duplexTransport } from "./protocol/transport/duplex-transport.js";
export { isLoopback } from "./protocol/transport/host.js";
export type { TcpOptions } from "./protocol/transport/tcp-transport.js";
export { tcpOpener } from "./protocol/transport/tcp-transport.js";
export type {
  NetworkPeer,
  Transport,
  TransportFactory,
  TransportHandlers,
  TransportOpener,
} from "./protocol/transport/transport.js";
export { type ClientMessage, encodeMessage, printMessage, type RequestThread } from "./protocol/wire/encode-message.js";
export {
  encodeFrame,
  FrameDecoder,
  type FrameDecoderOptions,
  HEADER_LENGTH,
  MAX_PAYLOAD_LENGTH,
} from "./protocol/wire/frames.js";
export type * from "./protocol/wire/messages.js";
export { decodeMessage, readMessage } from "./protocol/wire/read-message.js";
