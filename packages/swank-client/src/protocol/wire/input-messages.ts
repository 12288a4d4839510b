import type { Sexp } from "sexp-parser";

/** A thread reads from the user; it waits for `emacs-return-string`. */
export interface ReadStringMessage {
  readonly type: "read-string";
  readonly thread: number;
  readonly tag: number;
}

/** The thread no longer wants that input. */
export interface ReadAbortedMessage {
  readonly type: "read-aborted";
  readonly thread: number;
  readonly tag: number;
}

/** A thread asks yes or no; it waits for `emacs-return`. */
export interface YesOrNoMessage {
  readonly type: "y-or-n-p";
  readonly thread: number;
  readonly tag: number;
  readonly question: string;
}

/** A thread asks for a line; it waits for `emacs-return`. */
export interface ReadFromMinibufferMessage {
  readonly type: "read-from-minibuffer";
  readonly thread: number;
  readonly tag: number;
  readonly prompt: string;
  readonly initial: string | undefined;
}

/** A thread asks for the value of an Emacs Lisp form; it waits for `emacs-return`. */
export interface EvalMessage {
  readonly type: "eval";
  readonly thread: number;
  readonly tag: number;
  readonly form: string;
}

/** An Emacs Lisp form to run; no answer is expected. */
export interface EvalNoWaitMessage {
  readonly type: "eval-no-wait";
  readonly form: string;
}

/** A thread calls an Emacs function; it waits for `emacs-return`. Since 2.24. */
export interface EdRpcMessage {
  readonly type: "ed-rpc";
  readonly thread: number;
  readonly tag: number;
  readonly functionName: string;
  readonly args: readonly Sexp[];
}

/** An Emacs function to call; no answer is expected. Since 2.24. */
export interface EdRpcNoWaitMessage {
  readonly type: "ed-rpc-no-wait";
  readonly functionName: string;
  readonly args: readonly Sexp[];
}

/** A thread has sent much output and waits for `emacs-pong`. */
export interface PingMessage {
  readonly type: "ping";
  readonly thread: number;
  readonly tag: number;
}

/** `(swank:inspect-in-emacs ...)` was called. */
export interface InspectMessage {
  readonly type: "inspect";
  /** Swank's inspector state. */
  readonly content: Sexp;
  /** The thread that waits for `emacs-return` with that tag, if any. */
  readonly waiting: { readonly thread: number; readonly tag: number } | undefined;
}

/** The messages that ask this side for something, or withdraw a question. */
export type InputMessage =
  | ReadStringMessage
  | ReadAbortedMessage
  | YesOrNoMessage
  | ReadFromMinibufferMessage
  | EvalMessage
  | EvalNoWaitMessage
  | EdRpcMessage
  | EdRpcNoWaitMessage
  | PingMessage
  | InspectMessage;
