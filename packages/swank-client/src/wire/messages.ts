import type {
  DebugActivateMessage,
  DebugConditionMessage,
  DebugMessage,
  DebugReturnMessage,
} from "./debug-messages.js";
import type {
  EdRpcMessage,
  EdRpcNoWaitMessage,
  EvalMessage,
  EvalNoWaitMessage,
  InspectMessage,
  PingMessage,
  ReadAbortedMessage,
  ReadFromMinibufferMessage,
  ReadStringMessage,
  YesOrNoMessage,
} from "./input-messages.js";
import type {
  BackgroundMessage,
  EdMessage,
  EmacsSkippedPacketMessage,
  IndentationUpdateMessage,
  MalformedMessage,
  NewFeaturesMessage,
  NewPackageMessage,
  TestDelayMessage,
  UnknownMessage,
  UnreadableMessage,
} from "./notice-messages.js";
import type {
  ChannelSendMessage,
  NewReplOutputMessage,
  OpenDedicatedOutputStreamMessage,
  PopupBufferMessage,
  PresentationEndMessage,
  PresentationStartMessage,
  WriteImageMessage,
  WriteStringMessage,
} from "./output-messages.js";
import type { InvalidRpcMessage, ReaderErrorMessage, ReturnMessage } from "./reply-messages.js";

/** Everything a Swank server sends, in the shapes of versions 2.24 to 2.32. */
export type SwankMessage =
  | ReturnMessage
  | ReaderErrorMessage
  | InvalidRpcMessage
  | DebugMessage
  | DebugActivateMessage
  | DebugReturnMessage
  | DebugConditionMessage
  | WriteStringMessage
  | ReadStringMessage
  | ReadAbortedMessage
  | YesOrNoMessage
  | ReadFromMinibufferMessage
  | EvalMessage
  | EvalNoWaitMessage
  | EdRpcMessage
  | EdRpcNoWaitMessage
  | PingMessage
  | NewPackageMessage
  | NewFeaturesMessage
  | IndentationUpdateMessage
  | BackgroundMessage
  | EdMessage
  | InspectMessage
  | PresentationStartMessage
  | PresentationEndMessage
  | NewReplOutputMessage
  | ChannelSendMessage
  | TestDelayMessage
  | WriteImageMessage
  | PopupBufferMessage
  | OpenDedicatedOutputStreamMessage
  | EmacsSkippedPacketMessage
  | UnknownMessage
  | MalformedMessage
  | UnreadableMessage;

export type * from "./debug-messages.js";
export type * from "./input-messages.js";
export type * from "./notice-messages.js";
export type * from "./output-messages.js";
export type * from "./reply-messages.js";
