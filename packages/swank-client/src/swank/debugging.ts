import { type Decoded, decode, NIL, quote, type Sexp, symbol } from "sexp-parser";
import { refusal, throwToToplevel, unwound } from "../evaluation/stop-calls.js";
import { lispFunction } from "../runtime/function.js";
import { location } from "../source-text/source-text.js";
import { type WireFrame, frame as wireFrame } from "../wire/messages.js";
import { call, callsWith, echoArea, nothing, oneNumber } from "./call.js";

const { integer, list, map, nullable, plist, record, string } = decode;

const debuggerInfo = map(
  record({
    condition: record({
      message: string,
      /** The condition's type, as the debugger shows it, e.g. `   [Condition of type DIVISION-BY-ZERO]`. */
      type: string,
    }),
    restarts: list(record({ name: string, description: string })),
    frames: list<WireFrame>(wireFrame),
    /** Ids of the requests that wait for this thread, the newest first. */
    continuations: list(integer),
  }),
  ({ condition, ...others }) => ({ ...condition, ...others }),
);

/** What Swank says of a stop: the condition, its restarts, and some frames. */
export interface DebuggerInfo extends Decoded<typeof debuggerInfo> {}

const wireLocal = plist({
  name: string,
  /** Distinguishes variables with the same name in one frame, from 0. */
  id: integer,
  /** Printed on one line of at most 200 characters. */
  value: string,
});

/** A local variable of a frame. */
export interface WireLocal extends Decoded<typeof wireLocal> {}

const frameContents = record({
  locals: list<WireLocal>(wireLocal),
  /** As printed, e.g. `DONE`. */
  catchTags: list(string),
});

/** Variables and catch tags of a frame. */
export interface FrameContents extends Decoded<typeof frameContents> {}

const inStop = callsWith({ where: "stopped-thread" });

/** A call that may make its thread leave the stop. */
const leaving = <Args extends readonly unknown[] = []>(name: string, encode?: (...args: Args) => readonly Sexp[]) =>
  lispFunction({ ...inStop(name, refusal, encode), unwound });

const inFrame = (source: string, frame: number, packageName: string) => [source, frame, packageName];

const EVAL_IN_FRAME = "swank:eval-string-in-frame";

/** Since 2.32 it needs the size of Emacs's echo area. */
const evalStringInFrame = lispFunction({
  name: "cl:apply",
  where: "stopped-thread",
  label: () => EVAL_IN_FRAME,
  encode: (source: string, frame: number, packageName: string) => [
    quote(symbol(EVAL_IN_FRAME)),
    ...inFrame(source, frame, packageName),
    echoArea(EVAL_IN_FRAME, 3),
  ],
  decode: string,
});

/** Stopped threads. */
export const debugging = {
  throwToToplevel,
  /** `(swank:debugger-info-for-emacs START END)`: the stop's condition, restarts and the frames from `start` to `end` (exclusive). */
  debuggerInfoForEmacs: inStop<[start: number, end?: number], DebuggerInfo>(
    "swank:debugger-info-for-emacs",
    debuggerInfo,
    (start, end) => [start, end ?? NIL],
  ),
  /**
   * `(swank:backtrace START END)`: the frames from `start` to `end` (exclusive), or to the last one without `end`. An exhausted stack has
   * tens of thousands of frames: give an end.
   */
  backtrace: inStop("swank:backtrace", list(wireFrame), (start: number, end?: number) => [start, end ?? NIL]),
  /** `(swank:frame-package-name FRAME)`: the package of a frame's function. */
  framePackageName: inStop("swank:frame-package-name", nullable(string), oneNumber),
  /**
   * `(swank:frame-locals-and-catch-tags INDEX)`: the variables that the compiler kept, and the frame's catch tags. An index without a frame
   * signals an error inside the debugger, which stops the thread one level deeper.
   */
  frameLocalsAndCatchTags: inStop<[frame: number], FrameContents>(
    "swank:frame-locals-and-catch-tags",
    frameContents,
    oneNumber,
  ),
  /** `(swank:frame-source-location INDEX)`: the source location of the code that a frame runs. */
  frameSourceLocation: inStop("swank:frame-source-location", location, oneNumber),
  /** `(swank:eval-string-in-frame "SOURCE" INDEX "PACKAGE")`: the values of a form evaluated with a frame's variables, as the echo area shows them: `=> 7`. */
  evalStringInFrame,
  /** `(swank:pprint-eval-string-in-frame "SOURCE" INDEX "PACKAGE")`: the same, pretty-printed. Takes the same arguments in every version. */
  pprintEvalStringInFrame: inStop("swank:pprint-eval-string-in-frame", string, inFrame),
  /** `(swank:sdlb-print-condition)`, spelt like that: the condition, printed whole. */
  sdlbPrintCondition: inStop("swank:sdlb-print-condition", string),
  /** `(swank:sldb-disassemble FRAME)`: the machine code of a frame's function. An error on SBCL before Swank 2.28. */
  sldbDisassemble: inStop("swank:sldb-disassemble", string, oneNumber),
  /** `(swank:invoke-nth-restart INDEX)`: invokes a restart at whatever level the thread is now. `invokeNthRestartForEmacs` checks the level. */
  invokeNthRestart: leaving("swank:invoke-nth-restart", oneNumber),
  /**
   * `(swank:invoke-nth-restart-for-emacs LEVEL N)`: invokes a restart, counted from 0. Does nothing if the thread is at another level. A
   * restart that needs arguments requests them with `:read-string`.
   */
  invokeNthRestartForEmacs: leaving("swank:invoke-nth-restart-for-emacs", (level: number, n: number) => [level, n]),
  /**
   * `(swank:sldb-abort)`: leaves the innermost debugger level through its first ABORT restart. Swank up to 2.31 signals an error if there is
   * no such restart.
   */
  sldbAbort: leaving("swank:sldb-abort"),
  /** `(swank:sldb-continue)`: resumes the thread through its first CONTINUE restart. Swank up to 2.31 signals an error if there is none. */
  sldbContinue: leaving("swank:sldb-continue"),
  /** `(swank:restart-frame FRAME)`: calls a frame's function again. The thread stays if its code was not compiled for debugging. */
  restartFrame: leaving("swank:restart-frame", oneNumber),
  /** `(swank:sldb-return-from-frame FRAME "FORM")`: returns from a frame with the values of a form. */
  sldbReturnFromFrame: leaving("swank:sldb-return-from-frame", (frame: number, form: string) => [frame, form]),
  /** `(swank:sldb-step FRAME)`: steps into the next call. Only from a stop of SBCL's stepper. */
  sldbStep: leaving("swank:sldb-step", oneNumber),
  /** `(swank:sldb-next FRAME)`: steps over the next call. */
  sldbNext: leaving("swank:sldb-next", oneNumber),
  /** `(swank:sldb-out FRAME)`: steps out of the function. */
  sldbOut: leaving("swank:sldb-out", oneNumber),
  /** `(swank:toggle-break-on-signals)`: stops at every condition, or no longer, for all clients. => `*break-on-signals* = T` */
  toggleBreakOnSignals: call("swank:toggle-break-on-signals", string),
  /** `(swank:debug-nth-thread INDEX)`: stops a thread, by its position from 0 in the last `listThreads` of any client. */
  debugNthThread: call("swank:debug-nth-thread", nothing, oneNumber),
  /** `(swank:kill-nth-thread INDEX)`: ends a thread without unwinding what it waits for. */
  killNthThread: call("swank:kill-nth-thread", nothing, oneNumber),
  /** `(swank:quit-thread-browser)`: forgets the list of `listThreads`. */
  quitThreadBrowser: call("swank:quit-thread-browser", nothing),
};
