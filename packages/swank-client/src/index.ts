export type { AttachOptions, ForeignErrors } from "./attach.js";
export type { CallOptions } from "./caller.js";
export type { ClientOptions } from "./client.js";
export { SwankClient } from "./client.js";
export * as commands from "./commands/index.js";
export type { ConnectOptions } from "./connect.js";
export { connect } from "./connect.js";
export { Connection } from "./connection/connection.js";
export type { ConnectionEvents, ConnectionOptions } from "./connection/connection-options.js";
export type { RequestOptions } from "./connection/request-options.js";
export type * from "./debugger/breakpoint.js";
export type { Breakpoints } from "./debugger/breakpoints.js";
export type { DebuggerSession } from "./debugger/debugger-session.js";
export type { ForeignStop, ForeignStopReport } from "./debugger/foreign-stop.js";
export type * from "./debugger/frame.js";
export type { EndedThread } from "./debugger/own-threads.js";
export type { StopOwner } from "./debugger/stop-owner.js";
export type * from "./definitions/definition.js";
export { DEFINITION_KINDS } from "./definitions/definition.js";
export type * from "./describe/symbol-description.js";
export type { SwankErrorCode, SwankErrorDetails } from "./errors.js";
export { ERROR_CODES, SwankError } from "./errors.js";
export { type CodeOutline, outlineCode } from "./evaluation/code-outline.js";
export type { EvaluateOptions } from "./evaluation/evaluate-options.js";
export type { Evaluation, OutputChunk } from "./evaluation/evaluation.js";
export type * from "./evaluation/outcome.js";
export type { WaitOptions } from "./evaluation/outcome-slot.js";
export type { OutputStream } from "./evaluation/transcript.js";
export type { OpenedConnection, OpenOptions } from "./handshake/open-connection.js";
export { openConnection } from "./handshake/open-connection.js";
export type { SecretOption } from "./handshake/secret.js";
export type { QuestionOptions } from "./question-options.js";
export type { Backoff, ReconnectEvents, ReconnectOptions } from "./reconnecting-client.js";
export { ReconnectingClient } from "./reconnecting-client.js";
export type { StepMode } from "./runtime/debugger-calls.js";
export { duplexTransport } from "./transport/duplex-transport.js";
export { isLoopback } from "./transport/host.js";
export type { TcpOptions } from "./transport/tcp-transport.js";
export { tcpOpener } from "./transport/tcp-transport.js";
export type {
  NetworkPeer,
  Transport,
  TransportFactory,
  TransportHandlers,
  TransportOpener,
} from "./transport/transport.js";
export type { ClientMessage } from "./wire/encode-message.js";
export * as wire from "./wire/index.js";
export type * from "./wire/messages.js";
