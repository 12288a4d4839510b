import { type Decoder, decode, NIL, type Sexp } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { refusal, unwound } from "./unwinding.js";

const { any, list, map, nullable, record, string, tuple } = decode;

const IN_STOP = { where: "stopped-thread" } as const;
const index = (number: number) => [number];

/** What Swank says of a stop: the condition, its restarts, and some frames. */
export interface DebuggerInfo {
  readonly message: string;
  /** The condition's type, as the debugger shows it, e.g. `   [Condition of type DIVISION-BY-ZERO]`. */
  readonly type: string;
  readonly restarts: readonly { readonly name: string; readonly description: string }[];
  readonly frames: readonly { readonly index: number; readonly call: string }[];
  /** Ids of the requests that wait for this thread, the newest first. */
  readonly continuations: readonly number[];
}

const frame = map(decode.tupleRest([decode.integer, string], any), ([number, call]) => ({ index: number, call }));

const debuggerInfo: Decoder<DebuggerInfo> = map(
  tuple(
    decode.tupleRest([string, string], any),
    list(record({ name: string, description: string })),
    list(frame),
    map(nullable(list(decode.integer)), (ids = []) => ids),
  ),
  ([[message, type], restarts, frames, continuations]) => ({ message, type, restarts, frames, continuations }),
);

/** `(swank:debugger-info-for-emacs START END)`: the stop's condition, restarts and the frames from `start` to `end` (exclusive). */
export const debuggerInfoForEmacs = lispFunction({
  ...IN_STOP,
  name: "swank:debugger-info-for-emacs",
  encode: (start: number, end?: number): readonly Sexp[] => [start, end ?? NIL],
  decode: debuggerInfo,
});

/** `(swank:frame-package-name FRAME)`: the package of a frame's function. */
export const framePackageName = lispFunction({
  ...IN_STOP,
  name: "swank:frame-package-name",
  encode: index,
  decode: nullable(string),
});

/** `(swank:sdlb-print-condition)`, spelt like that: the condition, printed whole. */
export const sdlbPrintCondition = lispFunction({ ...IN_STOP, name: "swank:sdlb-print-condition", decode: string });

/** `(swank:sldb-disassemble FRAME)`: the machine code of a frame's function. An error on SBCL before Swank 2.28. */
export const sldbDisassemble = lispFunction({
  ...IN_STOP,
  name: "swank:sldb-disassemble",
  encode: index,
  decode: string,
});

/** `(swank:invoke-nth-restart INDEX)`: invokes a restart at whatever level the thread is now. `invokeNthRestartForEmacs` checks the level. */
export const invokeNthRestart = lispFunction({
  ...IN_STOP,
  name: "swank:invoke-nth-restart",
  encode: index,
  decode: refusal,
  unwound,
});

/** `(swank:restart-frame FRAME)`: calls a frame's function again. The thread stays if its code was not compiled for debugging. */
export const restartFrameCall = lispFunction({
  ...IN_STOP,
  name: "swank:restart-frame",
  encode: index,
  decode: refusal,
  unwound,
});

/** `(swank:sldb-return-from-frame FRAME "FORM")`: returns from a frame with the values of a form. */
export const sldbReturnFromFrame = lispFunction({
  ...IN_STOP,
  name: "swank:sldb-return-from-frame",
  encode: (number: number, form: string): readonly Sexp[] => [number, form],
  decode: refusal,
  unwound,
});

const step = (name: string) => lispFunction({ ...IN_STOP, name, encode: index, decode: refusal, unwound });

/** `(swank:sldb-step FRAME)`: steps into the next call. Only from a stop of SBCL's stepper. */
export const sldbStep = step("swank:sldb-step");

/** `(swank:sldb-next FRAME)`: steps over the next call. */
export const sldbNext = step("swank:sldb-next");

/** `(swank:sldb-out FRAME)`: steps out of the function. */
export const sldbOut = step("swank:sldb-out");

/** `(swank:toggle-break-on-signals)`: stops at every condition, or no longer, for all clients. => `*break-on-signals* = T` */
export const toggleBreakOnSignals = lispFunction({ name: "swank:toggle-break-on-signals", decode: string });

/** `(swank:debug-nth-thread INDEX)`: stops a thread, by its position from 0 in the last `listThreads` of any client. */
export const debugNthThread = lispFunction({ name: "swank:debug-nth-thread", encode: index, decode: () => undefined });

/** `(swank:kill-nth-thread INDEX)`: ends a thread without unwinding what it waits for. */
export const killNthThread = lispFunction({ name: "swank:kill-nth-thread", encode: index, decode: () => undefined });

/** `(swank:quit-thread-browser)`: forgets the list of `listThreads`. */
export const quitThreadBrowser = lispFunction({ name: "swank:quit-thread-browser", decode: () => undefined });
