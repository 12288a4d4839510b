import { keyword, list, NIL, type Sexp, T } from "sexp-parser";
import { SwankError } from "../errors.js";

/** Where a request runs: `t` on a thread of its own, `repl-thread` on the REPL's, a number on that stopped thread. */
export type RequestThread = number | "t" | "repl-thread";

/** Everything a client may send to a Swank server (slime.el, `slime-dispatch-event`; swank.lisp, `dispatch-event`). */
export type ClientMessage =
  /** Evaluates a form; answered by `return`. */
  | {
      readonly type: "emacs-rex";
      readonly form: Sexp;
      /** Name of the package to bind; NIL means the image's global one. */
      readonly package: string | undefined;
      readonly thread: RequestThread;
      readonly id: number;
    }
  /** Interrupts a thread, or with `t` the one that was busy last. */
  | { readonly type: "emacs-interrupt"; readonly thread: number | "t" }
  /** Answers `ping`. */
  | { readonly type: "emacs-pong"; readonly thread: number; readonly tag: number }
  /** Answers `y-or-n-p`, `read-from-minibuffer`, `eval`, `ed-rpc` and `inspect`. */
  | { readonly type: "emacs-return"; readonly thread: number; readonly tag: number; readonly value: Sexp }
  /** Answers `read-string`. A line ends with a newline; `""` is the end of the input. */
  | { readonly type: "emacs-return-string"; readonly thread: number; readonly tag: number; readonly text: string }
  /** To a channel; a channel that does not exist makes the server close the connection. */
  | { readonly type: "emacs-channel-send"; readonly channel: number; readonly message: Sexp }
  /** Answers `write-string` with a thread, and only that: older servers close the connection when they get it. */
  | { readonly type: "write-done"; readonly thread: number };

/**
 * The list that goes over the wire.
 *
 * @throws SwankError `INVALID_ARGUMENT` for a message that no client may send
 */
export function encodeMessage(message: ClientMessage): Sexp {
  const name = keyword(String(message.type));
  switch (message.type) {
    case "emacs-rex":
      return list(name, message.form, message.package ?? NIL, encodeThread(message.thread), message.id);
    case "emacs-interrupt":
      return list(name, encodeThread(message.thread));
    case "emacs-pong":
      return list(name, message.thread, message.tag);
    case "emacs-return":
      return list(name, message.thread, message.tag, message.value);
    case "emacs-return-string":
      return list(name, message.thread, message.tag, message.text);
    case "emacs-channel-send":
      return list(name, message.channel, message.message);
    case "write-done":
      return list(name, message.thread);
    default:
      // A server closes the connection on a message that it does not know.
      throw new SwankError("INVALID_ARGUMENT", "There is no such message for a client to send.");
  }
}

function encodeThread(thread: RequestThread): Sexp {
  if (thread === "t") return T;
  if (thread === "repl-thread") return keyword(thread);
  if (Number.isSafeInteger(thread)) return thread;
  throw new SwankError("INVALID_ARGUMENT", `A thread is "t", "repl-thread" or an integer, not ${String(thread)}.`);
}
