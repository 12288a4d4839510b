import { keyword, list, NIL } from "sexp-parser";
import type { ClientMessage } from "../wire/encode-message.js";
import type { SwankMessage } from "../wire/messages.js";

/**
 * Decides how to answer a message on which a Lisp thread waits.
 *
 * @returns the answer; `undefined` for the default one; `"later"` if the application sends it itself.
 */
export type ReplyPolicy = (message: SwankMessage) => ClientMessage | "later" | undefined;

/** Answers to Lisp's questions that may wait to be sent. */
export const MOST_UNREAD_ANSWERS = 20_000;

/** Characters of a function's name that an answer repeats. */
const NAME_LENGTH = 200;

/**
 * The answer to a message on which a Lisp thread waits, so that no thread waits forever; `undefined` for other messages.
 *
 * There is no user to ask: input is at end of file, questions are declined, and Emacs functions do not exist.
 */
export function defaultReply(message: SwankMessage): ClientMessage | undefined {
  switch (message.type) {
    case "ping":
      return { type: "emacs-pong", thread: message.thread, tag: message.tag };
    case "write-string":
      // Swank up to 2.27 names no thread and closes the connection when it is answered.
      return message.thread === undefined ? undefined : { type: "write-done", thread: message.thread };
    case "read-string":
      return { type: "emacs-return-string", thread: message.thread, tag: message.tag, text: "" };
    case "y-or-n-p":
    case "read-from-minibuffer":
      return { type: "emacs-return", thread: message.thread, tag: message.tag, value: NIL };
    case "eval":
      return {
        type: "emacs-return",
        thread: message.thread,
        tag: message.tag,
        value: list(keyword("error"), "not-supported", "This client is not Emacs and evaluates no Emacs Lisp."),
      };
    case "ed-rpc":
      return {
        type: "emacs-return",
        thread: message.thread,
        tag: message.tag,
        value: list(keyword("ed-rpc-forbidden"), message.functionName.slice(0, NAME_LENGTH)),
      };
    case "inspect":
      return message.waiting && { type: "emacs-return", ...message.waiting, value: NIL };
    default:
      return undefined;
  }
}
