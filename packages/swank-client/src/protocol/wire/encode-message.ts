import { keyword, list, NIL, type Piece, PrintError, parts, print, printPieces, type Sexp, T } from "sexp-parser";
import { SwankError } from "../../base/errors.js";

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
  const name = nameOf(message.type);
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

/** Names of messages, so that a message needs no look-up of its symbol. */
const names = new Map<string, Sexp>();

function nameOf(type: string): Sexp {
  const known = names.get(type);
  if (known !== undefined) return known;
  const name = keyword(String(type));
  // An unknown type is refused, so the table stays small.
  if (names.size < MAX_NAMES) names.set(type, name);
  return name;
}

const MAX_NAMES = 20;

function encodeThread(thread: RequestThread): Sexp {
  if (thread === "t") return T;
  if (thread === "repl-thread") return keyword(thread);
  if (Number.isSafeInteger(thread)) return thread;
  throw new SwankError("INVALID_ARGUMENT", `A thread is "t", "repl-thread" or an integer, not ${String(thread)}.`);
}

/**
 * The text of a message, ready to be framed.
 *
 * @throws SwankError `INVALID_ARGUMENT` if it holds text that Lisp's reader would run (`#.`) or refuse (`#<...>`), or values that are not Lisp data
 */
export function printMessage(message: ClientMessage): string {
  return printed(encodeMessage(message), print);
}

/**
 * The same text in pieces: the strings between long strings, and the UTF-8 of long strings.
 *
 * @throws SwankError as `printMessage` does
 */
export function printMessagePieces(message: ClientMessage): readonly Piece[] {
  return message.type === "emacs-rex" ? requestPieces(message) : printed(encodeMessage(message), printPieces);
}

/** Puts the parts of a request together as text, which takes half as long as to print their list. */
function requestPieces(message: Extract<ClientMessage, { type: "emacs-rex" }>): readonly Piece[] {
  const { form, package: packageName, thread, id } = message;
  const pieces = printed(form, printPieces);
  const text = (datum: Sexp) => guarded(datum, print);
  const rest = `${packageName === undefined ? "nil" : text(packageName)} ${text(encodeThread(thread))} ${text(id)}`;
  const [only] = pieces;
  if (pieces.length === 1 && typeof only === "string") return [`(:emacs-rex ${only} ${rest})`];
  return ["(:emacs-rex ", ...pieces, ` ${rest})`];
}

function printed<Text>(datum: Sexp, printer: (datum: Sexp) => Text): Text {
  const text = guarded(datum, printer);
  const opaque = findOpaque(datum);
  if (opaque === undefined) return text;
  throw new SwankError(
    "INVALID_ARGUMENT",
    `A message cannot contain ${opaque.slice(0, 80)}: it is not plain Lisp data.`,
  );
}

function guarded<Text>(datum: Sexp, printer: (datum: Sexp) => Text): Text {
  try {
    return printer(datum);
  } catch (cause) {
    if (cause instanceof PrintError) throw new SwankError("INVALID_ARGUMENT", cause.message, { cause });
    // The text is longer than the longest possible string.
    if (cause instanceof RangeError) throw new SwankError("FRAME_TOO_LARGE", cause.message, { cause });
    throw cause;
  }
}

/** The first opaque datum in it. Not recursive, because the caller decides the depth. */
function findOpaque(datum: Sexp): string | undefined {
  const waiting: Sexp[] = [datum];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === "object" && "kind" in next && next.kind === "opaque") return next.text;
    const inside = Array.isArray(next) ? next : parts(next);
    for (let index = 0; index < inside.length; index++) {
      const part = inside[index];
      if (typeof part === "object" && part !== NIL) waiting.push(part);
    }
  }
  return undefined;
}
