import type { Sexp } from "sexp-parser";

/** How a request ended: `ok` with what the form gave, or unwound. */
export type Reply =
  | { readonly status: "ok"; readonly value: Sexp }
  | {
      readonly status: "abort";
      /**
       * The condition that Lisp signalled last during the request, `"NIL"` when there was none. It may not be the reason for the abort,
       * which the `debug` message contains.
       */
      readonly condition: string;
    };

/** Answers the request with that id. */
export interface ReturnMessage {
  readonly type: "return";
  readonly id: number;
  readonly reply: Reply;
}

/** The server could not read a packet, or could not write one as UTF-8. */
export interface ReaderErrorMessage {
  readonly type: "reader-error";
  /** The packet in question, with every character outside ASCII written as `\xNN`. */
  readonly packet: string;
  readonly message: string;
  /** Whether the packet carried a request or a reply; `undefined` when it carried neither. */
  readonly carried: "request" | "reply" | undefined;
  /** The request that the packet carried or answered; Swank names none, this is read from the end of the packet. */
  readonly id: number | undefined;
}

/** The thread that a request was meant for does not exist. */
export interface InvalidRpcMessage {
  readonly type: "invalid-rpc";
  readonly id: number;
  readonly message: string;
}

/** The result of the request was not sent, since Swank would have closed the connection (lisp/connection/messages.lisp). */
export interface ReplyRefusedMessage {
  readonly type: "reply-refused";
  readonly id: number;
  /** `unprintable`: printing it signalled an error. */
  readonly reason: "too-large" | "unprintable";
}

/** The messages that settle a request, each by a name of its own; a `ReplyRefusedMessage` comes under the name of `ReturnMessage`. */
export type ReplyMessage = ReturnMessage | ReaderErrorMessage | InvalidRpcMessage;
