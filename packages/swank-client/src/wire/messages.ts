import {
  type Decoded,
  DecodeError,
  type Decoder,
  decode,
  isDotted,
  isList,
  isSymbol,
  NIL,
  preview,
  print,
  type ReadErrorCode,
  read,
  type Sexp,
  SexpError,
} from "sexp-parser";
import { SwankError } from "../base/errors.js";

const { any, boolean, from, integer, keywordName, list, map, nil, nullable, oneOf, plist, real, record, string } =
  decode;
const { symbolName, tagged, tupleRest, withDefault } = decode;

/** The result of `decoder`, or `fallback` if it fails: for details without which the message is still useful. */
function lenient<Value>(decoder: Decoder<Value>, fallback: Value): Decoder<Value> {
  return oneOf<[Value, Value]>(decoder, () => fallback);
}

const optionalInteger = withDefault(nullable(integer), undefined);

const optionalDatum = withDefault(any, NIL);

/** `(:ok RESULT)` or `(:abort "CONDITION")` (swank.lisp, `eval-for-emacs`). */
const reply = {
  ok: record({ value: any }, { status: "ok" }),
  abort: record(
    {
      /**
       * The condition that Lisp signalled last during the request, `"NIL"` when there was none. It may not be the reason for the abort,
       * which the `debug` message contains.
       */
      condition: withDefault(
        map(oneOf(string, nil), (condition) => condition ?? "NIL"),
        "NIL",
      ),
    },
    { status: "abort" },
  ),
};

/** How a request ended: `ok` with what the form gave, or unwound. */
export type Reply = Decoded<typeof reply.ok> | Decoded<typeof reply.abort>;

/** `(:refused :unprintable)`, or `:too-large`: the result was not sent, since Swank would have closed the connection (lisp/connection/messages.lisp). */
const refused = record(
  { reason: map(keywordName, (name) => (name === "UNPRINTABLE" ? ("unprintable" as const) : ("too-large" as const))) },
  { status: "refused" },
);

/** Answers the request with that id. */
export interface ReturnMessage {
  readonly type: "return";
  readonly id: number;
  readonly reply: Reply;
}

/** The result of the request was not sent. `unprintable`: printing it signalled an error. */
export interface ReplyRefusedMessage {
  readonly type: "reply-refused";
  readonly id: number;
  readonly reason: "too-large" | "unprintable";
}

const anyReply = tagged({ ok: reply.ok, abort: reply.abort, refused });

const returned: Decoder<ReturnMessage | ReplyRefusedMessage> = map(
  record({ reply: anyReply, id: integer }),
  ({ reply: end, id }) =>
    end.status === "refused" ? { type: "reply-refused", id, reason: end.reason } : { type: "return", id, reply: end },
);

/** What a packet was, and the request it belongs to. */
interface PacketIdentity {
  readonly carried: "request" | "reply";
  readonly id: number;
}

/** Room for the digits of an id, the parenthesis, and the newline that Emacs sends. */
const TAIL_LENGTH = 32;

/**
 * Finds the id in the text of a packet that could not be read: it is the last thing in `(:emacs-rex ... ID)` and `(:return ... ID)`.
 *
 * @returns `undefined` when the packet is neither.
 */
function requestIdAtEnd(packet: string): PacketIdentity | undefined {
  const name = /^\(:(emacs-rex|return)\s/i.exec(packet)?.[1]?.toLowerCase();
  // Only the tail is searched: a packet may hold megabytes of digits.
  const digits = /\s(-?\d{1,15})\)\s*$/.exec(packet.slice(-TAIL_LENGTH))?.[1];
  if (name === undefined || digits === undefined) return undefined;
  return { carried: name === "return" ? "reply" : "request", id: Number(digits) };
}

const readerError = record(
  {
    /** The packet in question, with every character outside ASCII written as `\xNN`. */
    packet: string,
    message: string,
  },
  { type: "reader-error" },
);

/** The server could not read a packet, or could not write one as UTF-8. */
interface ReaderErrorMessage extends Decoded<typeof readerError> {
  /** Whether the packet carried a request or a reply; `undefined` when it carried neither. */
  readonly carried: "request" | "reply" | undefined;
  /** The request that the packet carried or answered; Swank names none, this is read from the end of the packet. */
  readonly id: number | undefined;
}

const TYPE_START = "   [Condition of type ";

function conditionType(text: string): string {
  // A regular expression is compiled when it is first used, and run slowly at first.
  if (text.startsWith(TYPE_START) && text.endsWith("]")) return text.slice(TYPE_START.length, -1);
  return /^\s*\[Condition of type (.*)\]\s*$/s.exec(text)?.[1] ?? text.trim();
}

/** `(MESSAGE "   [Condition of type TYPE]" EXTRAS)` (swank.lisp, `debugger-condition-for-emacs`). */
const condition = record({
  message: string,
  /** Its class, as Lisp prints it, e.g. `SIMPLE-ERROR`. */
  type: map(string, conditionType),
  /** Such as `(:references ...)` and `(:show-frame-source 0)`. */
  extras: withDefault(lenient<readonly Sexp[]>(list(any), []), []),
});

/** The condition of a stop, as Swank prints it. */
export interface WireCondition extends Decoded<typeof condition> {}

/** A restart, in the order of the stop's list. */
export interface WireRestart {
  /** Empty for an anonymous restart. */
  readonly name: string;
  readonly description: string;
  /** True if it returns to where the request began (Swank marks it with an asterisk). */
  readonly topLevel: boolean;
}

/** `(NAME DESCRIPTION)` (swank.lisp, `format-restarts-for-emacs`). */
const restart: Decoder<WireRestart> = map(record({ name: string, description: string }), ({ name, description }) => {
  // The restart that leads to the top level has an asterisk in front; a user's name may have one at both ends.
  const topLevel = name.length > 1 && name.startsWith("*") && !name.endsWith("*");
  const bare = topLevel ? name.slice(1) : name;
  return { name: bare === "NIL" ? "" : bare, description, topLevel };
});

const isRestartable = map(
  lenient(nullable(plist({ restartable: withDefault(boolean, false) })), undefined),
  (properties) => properties?.restartable ?? false,
);

/** `(INDEX "CALL" [(:restartable t)])` (swank.lisp, `backtrace`). */
export const frame = record({
  /** 0 is the innermost. */
  index: integer,
  /** The call on one line, e.g. `(FACT 3)`. */
  call: string,
  restartable: withDefault(isRestartable, false),
});

/** An entry of a backtrace. */
export interface WireFrame extends Decoded<typeof frame> {}

const debug = record(
  {
    thread: integer,
    /** 1 for the first level, one more for every stop inside a stop. */
    level: integer,
    condition,
    restarts: list(restart),
    /** The innermost 20. */
    frames: list<WireFrame>(frame),
    /** Ids of the requests that wait for this thread, innermost first; empty for threads that Swank did not start. */
    continuations: withDefault(list(integer), []),
  },
  { type: "debug" },
);

/** A thread stopped in the debugger. Sent again whenever the thread returns to the level. */
export interface DebugMessage extends Decoded<typeof debug> {}

const debugReturn = record(
  {
    thread: integer,
    level: integer,
    /** True if it left by a step, so that another stop may follow. */
    stepping: withDefault(boolean, false),
  },
  { type: "debug-return" },
);

/** The thread left this level. */
export interface DebugReturnMessage extends Decoded<typeof debugReturn> {}

/** The waiting thread, and the tag of the answer that it waits for. */
const waiting = { thread: integer, tag: integer };

const rest = list(any);

const writeString = record(
  {
    text: string,
    /** NIL for user output, `:repl-result` for a value, otherwise what the stream was made for. */
    target: optionalDatum,
    /** The thread that waits for `write-done` (Swank 2.28 and newer). */
    thread: optionalInteger,
  },
  { type: "write-string" },
);

/** Output. */
export interface WriteStringMessage extends Decoded<typeof writeString> {}

/** A feature is a keyword, as a rule; users may push anything. */
export const featureName: Decoder<string> = oneOf(symbolName, string, (datum: Sexp) => print(datum));

/** `("name" N-or-list ("PKG" ...))` (swank.lisp, `update-indentation/delta-for-emacs`). */
const indentationRule = record({
  name: string,
  /** A number of arguments, a list of rules, or NIL when the rule was withdrawn. */
  indentation: any,
  /** The packages in which the name means this macro. */
  packages: withDefault(list(string), []),
});

/** NIL, a file or a function (swank.lisp, `ed-in-emacs`). */
const edTarget = oneOf(
  map(nil, () => ({ kind: "nothing" as const })),
  plist(
    { path: from("filename", string), line: optionalInteger, column: optionalInteger, position: optionalInteger },
    { kind: "file" },
  ),
  plist({ name: from("function-name", string) }, { kind: "function" }),
);

/** A decoder for every message that a Swank server of versions 2.24 to 2.32 sends, by its name on the wire, which is also its `type`. */
const known = {
  return: returned,
  /** The thread that a request was meant for does not exist. */
  "invalid-rpc": record({ id: integer, message: string }, { type: "invalid-rpc" }),
  "reader-error": map(
    readerError,
    (message): ReaderErrorMessage => ({
      ...message,
      carried: undefined,
      id: undefined,
      ...requestIdAtEnd(message.packet),
    }),
  ),
  debug,
  /** The stop at this level is ready for requests. */
  "debug-activate": record(
    { thread: integer, level: integer, select: withDefault(boolean, false) },
    { type: "debug-activate" },
  ),
  "debug-return": debugReturn,
  /** An error inside the debugger itself, or the answer to interrupting a thread that does not exist. */
  "debug-condition": record({ thread: integer, message: string }, { type: "debug-condition" }),
  "write-string": writeString,
  /** The output up to the matching end presents an object. */
  "presentation-start": record({ id: any, target: optionalDatum }, { type: "presentation-start" }),
  "presentation-end": record({ id: any, target: optionalDatum }, { type: "presentation-end" }),
  /** The REPL's output begins a new block. Since 2.32. */
  "new-repl-output": record({}, { type: "new-repl-output" }),
  /** A message of a channel, such as a listener of swank-mrepl. The method is in lower case, e.g. `write-string`. */
  "channel-send": map(
    record({ channel: integer, message: tupleRest([keywordName], rest) }),
    ({ channel, message: [method, args] }) => ({
      type: "channel-send" as const,
      channel,
      method: method.toLowerCase(),
      args,
    }),
  ),
  /** An image to show in place of text (swank-media). */
  "write-image": record({ image: any, text: string }, { type: "write-image" }),
  /** Text to show in a window of its own (swank-media). */
  "popup-buffer": record({ name: string, text: string, mode: optionalDatum }, { type: "popup-buffer" }),
  /** Output will come on a port of its own. Up to 2.30, and only when the image was configured so. */
  "open-dedicated-output-stream": record(
    { port: integer, coding: optionalDatum },
    { type: "open-dedicated-output-stream" },
  ),
  /** A thread reads from the user; it waits for `emacs-return-string`. */
  "read-string": record(waiting, { type: "read-string" }),
  /** The thread no longer wants that input. */
  "read-aborted": record(waiting, { type: "read-aborted" }),
  /** A thread asks yes or no; it waits for `emacs-return`, as those that send the following messages. */
  "y-or-n-p": record({ ...waiting, question: string }, { type: "y-or-n-p" }),
  /** A thread asks for a line. */
  "read-from-minibuffer": record(
    { ...waiting, prompt: string, initial: withDefault(nullable(string), undefined) },
    { type: "read-from-minibuffer" },
  ),
  /** A thread asks for the value of an Emacs Lisp form. */
  eval: record({ ...waiting, form: string }, { type: "eval" }),
  /** An Emacs Lisp form to run; no answer is expected. */
  "eval-no-wait": record({ form: string }, { type: "eval-no-wait" }),
  /** A thread calls an Emacs function. Since 2.24. */
  "ed-rpc": map(tupleRest([integer, integer, string], rest), ([thread, tag, functionName, args]) => ({
    type: "ed-rpc" as const,
    thread,
    tag,
    functionName,
    args,
  })),
  /** An Emacs function to call; no answer is expected. Since 2.24. */
  "ed-rpc-no-wait": map(tupleRest([string], rest), ([functionName, args]) => ({
    type: "ed-rpc-no-wait" as const,
    functionName,
    args,
  })),
  /** A thread has sent much output and waits for `emacs-pong`. */
  ping: record(waiting, { type: "ping" }),
  /** `(swank:inspect-in-emacs ...)` was called, with Swank's inspector state. The thread waits for `emacs-return` with that tag, if there is one. */
  inspect: map(record({ content: any, thread: optionalInteger, tag: optionalInteger }), ({ content, thread, tag }) => ({
    type: "inspect" as const,
    content,
    waiting: thread === undefined || tag === undefined ? undefined : { thread, tag },
  })),
  /** The REPL changed its package. */
  "new-package": record({ name: string, prompt: string }, { type: "new-package" }),
  /** `*features*` changed. The names are in upper case, without colons. */
  "new-features": record({ features: list(featureName) }, { type: "new-features" }),
  /** Indentation rules that are new or changed. */
  "indentation-update": record({ rules: list(indentationRule) }, { type: "indentation-update" }),
  /** Text for a status line. */
  "background-message": record({ text: string }, { type: "background-message" }),
  /** `(ed ...)` was called. */
  ed: record({ target: edTarget }, { type: "ed" }),
  /** Swank's own tests ask for a pause. */
  "test-delay": record({ seconds: real }, { type: "test-delay" }),
  /** Internal to Emacs. */
  "emacs-skipped-packet": record({ packet: any }, { type: "emacs-skipped-packet" }),
};

/** A message with a name that is not known here; newer Swanks may send some. */
export interface UnknownMessage {
  readonly type: "unknown";
  /** Lower case, without colon. */
  readonly name: string;
  readonly datum: Sexp;
}

/** A message with a known name and a shape that is not. */
export interface MalformedMessage {
  readonly type: "malformed";
  /** Lower case, without colon. */
  readonly name: string;
  /** Where it differs from what was expected. */
  readonly problem: string;
  readonly datum: Sexp;
  /** The request that it answers, if it is a reply. */
  readonly id: number | undefined;
}

/** A message that cannot be read as Lisp data although it was framed properly and begins as one. */
export interface UnreadableMessage {
  readonly type: "unreadable";
  readonly text: string;
  readonly problem: string;
  /** The request that it answers, if its end names one. */
  readonly id: number | undefined;
}

/** Everything a Swank server sends. `Extract<SwankMessage, { type: "ping" }>` is the type of one message. */
export type SwankMessage =
  | Decoded<(typeof known)[keyof typeof known]>
  | UnknownMessage
  | MalformedMessage
  | UnreadableMessage;

/**
 * Reads one payload.
 *
 * A payload that begins as a message does and cannot be read gives an `unreadable` message, because Lisp may print objects in any way it
 * likes and the next frame is not affected.
 *
 * @throws SwankError `UNREADABLE_MESSAGE` when it is no message at all; `LIMIT_EXCEEDED` for a message nested too deep or with too many symbols
 * that is no reply
 */
export function readMessage(payload: string): SwankMessage {
  let datum: Sexp;
  try {
    datum = read(payload, LIMITS);
  } catch (error) {
    if (error instanceof SexpError) return unreadable(payload, error);
    throw error;
  }
  return decodeMessage(datum);
}

/**
 * Far more than a message of an image has: its printer fails at a few thousand levels. A number of that length takes some 10 ms to read; one
 * that fills a frame would take seconds, in which this process could do nothing else.
 */
const LIMITS = { maxDepth: 10_000, maxNewSymbols: 100_000, maxNumberLength: 100_000 };

const LIMIT_CODES: ReadonlySet<ReadErrorCode> = new Set(["NESTED_TOO_DEEP", "TOO_MANY_SYMBOLS"]);

function unreadable(text: string, cause: SexpError): SwankMessage {
  if (!text.startsWith("(:")) throw notAMessage(text, cause);
  const id = requestIdAtEnd(text)?.id;
  // A reply concerns only the caller that asked for it; no caller asked for any other message.
  if (id === undefined && LIMIT_CODES.has(cause.code)) {
    throw new SwankError("LIMIT_EXCEEDED", `A received message exceeds the limits: ${cause.message}`, { cause });
  }
  return { type: "unreadable", text, problem: cause.message, id };
}

const decodeKnown = tagged(
  known,
  (datum: Sexp): UnknownMessage => ({ type: "unknown", name: messageName(datum), datum }),
);

/**
 * Gives a message its type. Names that are not known and shapes that do not fit become messages of their own, so that nothing is lost.
 *
 * @throws SwankError `UNREADABLE_MESSAGE` when the datum is no message at all
 */
export function decodeMessage(datum: Sexp): SwankMessage {
  try {
    return decodeKnown(datum);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return { type: "malformed", name: messageName(datum), problem: error.message, datum, id: repliedId(datum) };
  }
}

/** Every message is a list that begins with a keyword. */
function messageName(datum: Sexp): string {
  const head = isList(datum) ? datum[0] : isDotted(datum) ? datum.items[0] : undefined;
  if (head === undefined || !isSymbol(head) || head.package !== "KEYWORD") throw notAMessage(preview(datum, 80));
  return head.name.toLowerCase();
}

/** Where replies have their ids, whatever else is wrong with them. */
const repliedId = lenient<number | undefined>(
  tagged({
    return: map(record({ reply: any, id: integer }), ({ id }) => id),
    "invalid-rpc": map(record({ id: integer }), ({ id }) => id),
  }),
  undefined,
);

/** Characters of it that the error shows. */
const PREVIEW_LENGTH = 80;

/** The error for a payload that is not a list beginning with a keyword. */
function notAMessage(text: string, cause?: unknown): SwankError {
  return new SwankError("UNREADABLE_MESSAGE", "The received data are not a Swank message.", {
    cause,
    details: { received: text.slice(0, PREVIEW_LENGTH) },
  });
}
