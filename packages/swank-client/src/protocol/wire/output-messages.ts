import type { Sexp } from "sexp-parser";

/** Output. */
export interface WriteStringMessage {
  readonly type: "write-string";
  readonly text: string;
  /** NIL for user output, `:repl-result` for a value, otherwise what the stream was made for. */
  readonly target: Sexp;
  /** The thread that waits for `write-done` (Swank 2.28 and newer). */
  readonly thread: number | undefined;
}

/** The output up to the matching end presents an object. */
export interface PresentationStartMessage {
  readonly type: "presentation-start";
  readonly id: Sexp;
  readonly target: Sexp;
}

/** The end of what presents an object. */
export interface PresentationEndMessage {
  readonly type: "presentation-end";
  readonly id: Sexp;
  readonly target: Sexp;
}

/** The REPL's output begins a new block. Since 2.32. */
export interface NewReplOutputMessage {
  readonly type: "new-repl-output";
}

/** A message of a channel, such as a listener of swank-mrepl. */
export interface ChannelSendMessage {
  readonly type: "channel-send";
  readonly channel: number;
  /** Lower case, without colon, e.g. `write-string`. */
  readonly method: string;
  readonly args: readonly Sexp[];
}

/** An image to show in place of text (swank-media). */
export interface WriteImageMessage {
  readonly type: "write-image";
  readonly image: Sexp;
  readonly text: string;
}

/** Text to show in a window of its own (swank-media). */
export interface PopupBufferMessage {
  readonly type: "popup-buffer";
  readonly name: string;
  readonly text: string;
  readonly mode: Sexp;
}

/** Output will come on a port of its own. Up to 2.30, and only when the image was configured so. */
export interface OpenDedicatedOutputStreamMessage {
  readonly type: "open-dedicated-output-stream";
  readonly port: number;
  readonly coding: Sexp;
}

/** The messages that carry output. */
export type OutputMessage =
  | WriteStringMessage
  | PresentationStartMessage
  | PresentationEndMessage
  | NewReplOutputMessage
  | ChannelSendMessage
  | WriteImageMessage
  | PopupBufferMessage
  | OpenDedicatedOutputStreamMessage;
