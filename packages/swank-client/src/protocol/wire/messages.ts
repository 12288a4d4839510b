import type { DebuggerMessage } from "./debug-messages.js";
import type { InputMessage } from "./input-messages.js";
import type { NoticeMessage, OddMessage } from "./notice-messages.js";
import type { OutputMessage } from "./output-messages.js";
import type { ReplyMessage, ReplyRefusedMessage } from "./reply-messages.js";

/** Everything a Swank server sends, in the shapes of versions 2.24 to 2.32. */
export type SwankMessage =
  | ReplyMessage
  | ReplyRefusedMessage
  | DebuggerMessage
  | InputMessage
  | OutputMessage
  | NoticeMessage
  | OddMessage;

export type * from "./debug-messages.js";
export type * from "./input-messages.js";
export type * from "./notice-messages.js";
export type * from "./output-messages.js";
export type * from "./reply-messages.js";
