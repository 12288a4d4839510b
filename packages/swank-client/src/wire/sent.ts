import { keyword, list, NIL, PrintError, parts, print, type Sexp, T } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import type { SwankMessage } from "./messages.js";

/** Where a request runs: `t` in a new thread, `repl-thread` in the REPL's, a number in that stopped thread. */
export type RequestThread = number | "t" | "repl-thread";

/** An id that no thread has: Swank counts from 1 or uses the system's thread ids. */
export const NO_THREAD = -1;

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
  /** Interrupts a thread, or with `t` the most recently busy one. */
  | { readonly type: "emacs-interrupt"; readonly thread: number | "t" }
  /** Answers `ping`. */
  | { readonly type: "emacs-pong"; readonly thread: number; readonly tag: number }
  /** Answers `y-or-n-p`, `read-from-minibuffer`, `eval`, `ed-rpc` and `inspect`. */
  | { readonly type: "emacs-return"; readonly thread: number; readonly tag: number; readonly value: Sexp }
  /** Answers `read-string`. A line ends with a newline; `""` is the end of the input. */
  | { readonly type: "emacs-return-string"; readonly thread: number; readonly tag: number; readonly text: string }
  /** Sends to a channel. If the channel does not exist, the server closes the connection. */
  | { readonly type: "emacs-channel-send"; readonly channel: number; readonly message: Sexp }
  /** Answers a `write-string` with a thread, and no other: older servers close the connection when they receive it. */
  | { readonly type: "write-done"; readonly thread: number };

/**
 * The list that is sent.
 *
 * @throws SwankError `INVALID_ARGUMENT` for an unknown message
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
      throw new SwankError("INVALID_ARGUMENT", "A client cannot send a message of this type.");
  }
}

function encodeThread(thread: RequestThread): Sexp {
  if (thread === "t") return T;
  if (thread === "repl-thread") return keyword(thread);
  if (Number.isSafeInteger(thread)) return thread;
  throw new SwankError("INVALID_ARGUMENT", `A thread is "t", "repl-thread" or an integer, not ${String(thread)}.`);
}

const ownCodes = new WeakSet<object>();

/** Lisp code of this package, which messages may contain as it is written, without being read here. */
export function ownCode(text: string): Sexp {
  const code: Sexp = { kind: "opaque", text };
  ownCodes.add(code);
  return code;
}

/**
 * The text of a message, ready to be framed.
 *
 * @throws SwankError `INVALID_ARGUMENT` if it holds text that Lisp's reader would run (`#.`) or refuse (`#<...>`), or values that are not Lisp data
 */
export function printMessage(message: ClientMessage): string {
  const datum = encodeMessage(message);
  const text = printed(datum);
  const opaque = findOpaque(datum);
  if (opaque === undefined) return text;
  throw new SwankError(
    "INVALID_ARGUMENT",
    `A message cannot contain ${opaque.slice(0, 80)}: it is not plain Lisp data.`,
  );
}

function printed(datum: Sexp): string {
  try {
    return print(datum);
  } catch (cause) {
    if (cause instanceof PrintError) throw new SwankError("INVALID_ARGUMENT", cause.message, { cause });
    // The text is longer than the longest possible string.
    if (cause instanceof RangeError) throw new SwankError("FRAME_TOO_LARGE", cause.message, { cause });
    throw cause;
  }
}

/** The first opaque datum in it that is not this package's own code. Not recursive, because the caller decides the depth. */
function findOpaque(datum: Sexp): string | undefined {
  const waiting: Sexp[] = [datum];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === "object" && "kind" in next && next.kind === "opaque") {
      if (ownCodes.has(next)) continue;
      return next.text;
    }
    const inside = Array.isArray(next) ? next : parts(next);
    for (let index = 0; index < inside.length; index++) {
      const part = inside[index];
      if (typeof part === "object" && part !== NIL) waiting.push(part);
    }
  }
  return undefined;
}

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
