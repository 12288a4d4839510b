export { type OpenedConnection, type OpenOptions, openConnection, type SecretOption } from "./handshake/handshake.js";
export { runnerOf } from "./runtime/runner.js";
export {
  ANSWER_TIME,
  awaitedLockOf,
  type CheckOptions,
  type ConnectionCheck,
  checkOf,
  imageDirectory,
  type Silence,
} from "./silence.js";
export { Connection, type ConnectionEvents, type ConnectionOptions, type HeartbeatOptions } from "./wire/connection.js";
export {
  encodeFrame,
  FrameDecoder,
  type FrameDecoderOptions,
  HEADER_LENGTH,
  MAX_PAYLOAD_LENGTH,
} from "./wire/frames.js";
export {
  type DebugMessage,
  type DebugReturnMessage,
  decodeMessage,
  type MalformedMessage,
  type Reply,
  type ReplyRefusedMessage,
  type ReturnMessage,
  readMessage,
  type SwankMessage,
  type UnknownMessage,
  type UnreadableMessage,
  type WireCondition,
  type WireFrame,
  type WireRestart,
  type WriteStringMessage,
} from "./wire/messages.js";
export type { RequestOptions } from "./wire/pending.js";
export { type ClientMessage, encodeMessage, printMessage, type ReplyPolicy, type RequestThread } from "./wire/sent.js";
export {
  duplexTransport,
  isLoopback,
  type NetworkPeer,
  type TcpOptions,
  type Transport,
  type TransportFactory,
  type TransportHandlers,
  type TransportOpener,
  tcpOpener,
} from "./wire/transport.js";
