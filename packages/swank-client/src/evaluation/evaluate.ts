import { type Decoded, decode, NIL, type Sexp } from "sexp-parser";
import type { SwankError } from "../base/errors.js";
import { type Check, check, type OptionsOf } from "../base/options.js";
import { type WaitOptions, waitOptions } from "../base/waiting.js";
import { keywordForms, keywordOf, lispFunction } from "../runtime/function.js";
import {
  type ErrorSnapshot,
  errorSnapshot,
  type LispWarning,
  type OmittedOutput,
  type OutputChunk,
  type Redefinitions,
  type SignalledConditions,
  sessionUpdate,
  type WarningCount,
} from "./report.js";

const { boolean, from, integer, list, map, nullable, optional, plist, record, string, tagged, tupleRest } = decode;

/** Arguments of `evaluate`. */
export interface EvaluateCall {
  readonly code: string;
  /** The client chooses it before the call, so that it can attribute output and stops to the evaluation. */
  readonly id: number;
  readonly package: string | undefined;
  readonly stdin: string | undefined;
  /** Read all forms before evaluating any, because a scan found the code unbalanced. */
  readonly check: boolean;
  /** End with the first error instead of stopping at it. */
  readonly unwind: boolean;
  /** Compile for debugging. */
  readonly debug: boolean;
  /** Characters of each stream to send; of the text after them only the last `tail` are sent. */
  readonly limit: number;
  readonly tail: number;
  /** Characters of each value to send. Default: the runtime's limit. */
  readonly valueLimit?: number | undefined;
  /** Elements and levels of each list or vector to send. Default: the runtime's. */
  readonly printLength?: number | undefined;
  readonly printLevel?: number | undefined;
  /** Ask the client for standard input after `stdin`. Default: the input ends there. */
  readonly prompted?: boolean;
  /** Log conditions: all, or those of a type. */
  readonly conditions?: boolean | string | undefined;
  /** Print the values whole, for a program. Default: for people. */
  readonly data?: boolean;
  /** Keep the values, and send their ids instead. */
  readonly ids?: boolean;
}

/** Stands for an infinite limit: larger than any output, and a fixnum on every platform. */
const NO_LIMIT = 2 ** 40;

/** Converts a limit in characters, which may be infinite, to an integer for Lisp. */
export function lispLimit(characters: number): number {
  return Math.min(Math.floor(characters), NO_LIMIT);
}

function optionalLimit(characters: number | undefined): number | undefined {
  return characters === undefined ? undefined : lispLimit(characters);
}

/** What keeps a printed value from showing everything. */
const CUTS = ["characters", "length", "level", "number"] as const;

const cutFields = {
  /**
   * `characters`: longer than `valueLimit`, or than its part of the 1,000,000 characters for all values; `length`: a list or vector in it has more
   * elements than `printLength` or `*print-length*` allows; `level`: nested deeper than `printLevel` or `*print-level*`; `number`: it is an
   * integer or ratio of more than 100,000 bits, of which only the size is shown.
   */
  by: list(keywordOf(CUTS)),
  /** How many characters or, without `characters`, elements of the value are shown; `undefined` if only parts of it are cut. */
  shown: nullable(integer),
  /** How many of them the value has; `undefined` for text that was not printed to its end, and for a circular list. */
  total: nullable(integer),
};

/** `(REASONS SHOWN TOTAL)` (lisp/printing/values.lisp) */
export const cut = record(cutFields);

/** Why a printed value does not show everything. */
export interface Cut extends Decoded<typeof cut> {}

const cutValue = record({
  /** Position in `values`. */
  index: integer,
  ...cutFields,
});

/** A printed value that does not show everything. */
export interface CutValue extends Decoded<typeof cutValue> {}

/** Values as lisp/printing/values.lisp prints them. */
const valueFields = {
  /** Printed values, the first 50, each within limits; empty for `(values)` and for code without forms. */
  values: list(string),
  /** Those of `values` that do not show everything. */
  cutValues: from("cut", list<CutValue>(cutValue)),
  /** The number of all values. */
  valueCount: from("count", integer),
};

export const printedValues = plist(valueFields);

const idleBreakpoint = plist({
  id: integer,
  /** The function's name with its package, or the method. */
  function: string,
  /** Calls in the threads that it watches, and all others, since an outcome last named it. */
  calls: integer,
  callsElsewhere: integer,
  /** True if a call has stopped at another breakpoint on the function, from where it may never have reached this one. */
  stoppedBefore: boolean,
  /** Matching calls so far: fewer than `hitCount`. 0 if there are none since an outcome last named it. */
  hits: integer,
  hitCount: integer,
  /** True if its function has since been undefined, or replaced other than by a definition. */
  lost: boolean,
  /** Calls that never reach it, as a sentence: those that were compiled inline. */
  missed: nullable(string),
});

/** A breakpoint that has stopped and printed nothing so far. */
export interface IdleBreakpoint extends Decoded<typeof idleBreakpoint> {}

const returned = plist({
  ...valueFields,
  /** The number of forms that were evaluated. */
  formCount: from("forms", integer),
  /** The numbers, from 1, of the forms before the last whose values said more than the name of a definition. */
  unshownForms: from("unshown", list(integer)),
  /**
   * This client's breakpoints that have stopped and printed nothing so far, if an outcome has not said so before or the code names their
   * function; absent if there are none.
   */
  idleBreakpoints: from("idle", optional(list<IdleBreakpoint>(idleBreakpoint))),
});

const readFailure = plist({
  /** Characters read up to the error; absent when the error did not come from the reader. */
  offset: optional(nullable(integer)),
  /** Number of forms evaluated before the failure. */
  evaluated: integer,
  /** Names that were probably meant, as a sentence. */
  hint: optional(nullable(string)),
});

/** Where reading the source code failed, and how much of it ran before. */
export interface ReadFailure extends Decoded<typeof readFailure> {}

/** `held`: the lock because of which the thread could not stop. */
const heldLock = plist({ held: optional(nullable(string)) });

const failed = (datum: Sexp) => ({ error: errorSnapshot(datum), failure: readFailure(datum), ...heldLock(datum) });

/** `(:returned PLIST . ENDING)`, `(:failed SNAPSHOT . ENDING)`, `(:aborted . ENDING)` or `(:no-such-package NAME)` (lisp/evaluate/evaluate.lisp). */
const evaluationResult = tagged({
  returned: map(tupleRest([returned], sessionUpdate), ([result, update]) => ({
    status: "returned" as const,
    ...result,
    update,
  })),
  failed: map(tupleRest([failed], sessionUpdate), ([result, update]) => ({
    status: "failed" as const,
    ...result,
    update,
  })),
  aborted: map(sessionUpdate, (update) => ({ status: "aborted" as const, update })),
  "no-such-type": record({ name: string }, { status: "no-such-type" }),
  "no-such-package": record({ name: string }, { status: "no-such-package" }),
});

/** How an evaluation ended in the image. `unwound`: its thread was ended from outside. */
export type EvaluationResult = Decoded<typeof evaluationResult> | { readonly status: "unwound" };

/** Reads and evaluates code form by form. The thread may stop and resume any number of times before it answers. */
export const evaluate = lispFunction({
  name: "evaluate",
  ability: "evaluate",
  module: "evaluate",
  encode: ({ code, debug, ...call }: EvaluateCall) => [
    code,
    ...keywordForms({
      id: call.id,
      package: call.package,
      stdin: call.stdin,
      check: call.check,
      unwind: call.unwind,
      debug: debug ? undefined : NIL,
      limit: lispLimit(call.limit),
      tail: call.tail,
      conditions: call.conditions,
      "value-limit": optionalLimit(call.valueLimit),
      length: optionalLimit(call.printLength),
      level: optionalLimit(call.printLevel),
      prompted: call.prompted,
      data: call.data,
      ids: call.ids,
    }),
  ],
  decode: map(evaluationResult, (result): EvaluationResult => result),
  unwound: (): EvaluationResult => ({ status: "unwound" }),
});

/** Milliseconds that the image has to answer a request about an evaluation. */
const CONTROL_TIME = 10_000;

/** Swank's id of the evaluation's thread; `undefined` before the evaluation starts and after it ends. */
const threadOfEvaluation = nullable(integer);

/** Interrupts the thread of an evaluation. `count` numbers the evaluation's interrupts from 1; repeating a number has no effect. */
export const interrupt = lispFunction({
  name: "interrupt",
  ability: "interrupt",
  module: "evaluate",
  encode: (id: number, count: number) => [id, count],
  decode: threadOfEvaluation,
  timeout: CONTROL_TIME,
});

/** Unwinds an evaluation. */
export const abortEvaluation = lispFunction({
  name: "abort-evaluation",
  ability: "evaluate",
  module: "evaluate",
  encode: (id: number) => [id],
  decode: threadOfEvaluation,
  timeout: CONTROL_TIME,
  label: () => "abort",
});

/** Ends the thread of an evaluation by force: its cleanup forms may not run. */
export const kill = lispFunction({
  name: "kill",
  ability: "evaluate",
  module: "evaluate",
  encode: (id: number) => [id],
  decode: threadOfEvaluation,
  timeout: CONTROL_TIME,
});

/** Settings of a session, which hold from its beginning. */
interface SessionSettings {
  /** The client's code cannot end the image. */
  readonly protectsImage: boolean;
  /** What threads of the client's code print is sent to the client. */
  readonly tellsThreads: boolean;
  /** The client is sent the forms that define something. */
  readonly tellsForms: boolean;
}

/** Begins the client's session (lisp/evaluate/own-threads.lisp). */
export const beginSession = lispFunction({
  name: "begin-session",
  ability: "evaluate",
  module: "evaluate",
  encode: ({ protectsImage, tellsThreads, tellsForms }: SessionSettings) =>
    keywordForms({ "protect-image": protectsImage, "tell-threads": tellsThreads, "tell-forms": tellsForms }),
  decode: () => undefined,
  label: () => "beginning the session",
});

/** The fields of all outcomes: output, warnings and redefinitions since the previous outcome was taken. */
export interface Transcript {
  readonly stdout: string;
  readonly stderr: string;
  /**
   * The text of both streams, in the order in which the code finished it (`finish-output`, `force-output`). The streams buffer text that is not
   * finished, up to 30 ms.
   */
  readonly output: readonly OutputChunk[];
  /** Where output is missing from `stdout` and `stderr`, and how much, in the order of each text; empty if they are complete. */
  readonly outputOmitted: readonly OmittedOutput[];
  /** The first 100 of the evaluation's own forms, and then the first 50 of files that it loads or compiles, without compiler notes. */
  readonly warnings: readonly LispWarning[];
  /** The numbers of all warnings of files, by file and type. */
  readonly warningsInFiles: readonly WarningCount[];
  /** The number of warnings that are neither in `warnings` nor counted in `warningsInFiles`. */
  readonly warningsOmitted: number;
  /** These are no warnings: a program that is being changed redefines on purpose. */
  readonly redefinitions: Redefinitions;
  /** What was signalled, and which handlers took it; only with the option `conditions`. */
  readonly conditions?: SignalledConditions;
  /** The session's package, e.g. `COMMON-LISP-USER`. */
  readonly package: string;
  /** Time since the request was sent or, after a stop, since the thread resumed; `undefined` if the request was not sent. */
  readonly milliseconds: number | undefined;
}

/** Its values are those of the last form. */
export interface Returned extends Transcript, Decoded<typeof returned> {
  readonly status: "returned";
}

/** @typeParam Stop - `Stop`, which is not imported here because it imports this file. */
export interface StoppedOf<Stop> extends Transcript {
  readonly status: "stopped";
  /** Usable until the thread resumes. Its `data` stays available. */
  readonly stop: Stop;
}

export interface Aborted extends Transcript {
  readonly status: "aborted";
  /**
   * The error that ended the evaluation without a stop: code that cannot be read or compiled, errors under `onError: "unwind"`, and errors
   * in a thread that held a lock that the whole image needs. Absent if the evaluation was aborted on request.
   */
  readonly error?: ErrorSnapshot;
  /** The lock that the thread held, because of which it could not stop at the error, e.g. `the lock on packages`. */
  readonly held?: string;
}

/** The connection or the image ended before the evaluation did. Its progress is unknown. */
export interface Lost extends Transcript {
  readonly status: "lost";
  /** Its `details.exit` says how an image ended that `launch` started: exit code or signal, and its last output. */
  readonly cause: SwankError;
}

/** A result of `Evaluation.next()`. */
export type OutcomeOf<Stop> = Returned | StoppedOf<Stop> | Aborted | Lost;

/** An outcome without the fields that all outcomes have. */
export type BareOutcome<Stop> =
  | Omit<Returned, keyof Transcript>
  | Omit<StoppedOf<Stop>, keyof Transcript>
  | Omit<Aborted, keyof Transcript>
  | Omit<Lost, keyof Transcript>;

/** What gives standard input. */
type Input = (() => string | undefined | Promise<string | undefined>) | AsyncIterable<string | Uint8Array>;

const checkFunction = check.function<() => string | undefined | Promise<string | undefined>>();

const checkInput: Check<Input> = (name, value) => (isStream(value) ? value : checkFunction(name, value));

function isStream(value: unknown): value is AsyncIterable<string | Uint8Array> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

export const evaluateOptions = {
  /** Name of the package to read and evaluate in, for this evaluation only. Default: the session's, which follows `in-package`. */
  package: check.text,
  /**
   * Called when the code reads standard input and has read all of `stdin`. Returns the next text, such as a line with its newline, now or
   * later; `undefined` or an empty text is the end of file. Output is sent first, so that `onOutput` has the prompt. Threads that the code
   * starts get the end of file. A stream, such as `process.stdin`, gives its next piece at each call, and keeps the others. Default: end of file.
   */
  onRead: checkInput,
  /** The text of standard input. Default: empty. */
  stdin: check.text,
  /** On an error, `stop` the thread in the debugger, or `unwind`: end the evaluation with a full report. Default: `stop`. */
  onError: check.choice(["stop", "unwind"]),
  /** Compile with all frames, variables and steps (`debug`), or by the image's policy (`keep`). Default: `debug`. */
  policy: check.choice(["debug", "keep"]),
  /**
   * Characters of each output stream that are sent. Of the rest, only the last 4,000 are sent, and `outputOmitted` counts the others. With `Infinity`, all is sent to `onOutput`, and
   * an outcome has the first 2,000,000 and the last 10,000. Default: 100,000.
   */
  outputLimit: check.characters,
  /** Characters of each printed value that are sent, at most 1,000,000 for all values together. Default: 20,000. */
  valueLimit: check.characters,
  /**
   * Logs the conditions that the evaluation and the threads that it starts signal, with the handlers that take them: `true`, or the name of a
   * type of conditions. Default: false, which costs nothing. Signalling takes some 50 µs longer meanwhile.
   */
  conditions: check.either(check.flag, check.text),
  /** Elements of each list or vector that are shown in values; `Infinity` for all. `*print-length*` can only lower it. Default: 200. */
  printLength: check.characters,
  /** Levels of nesting that are shown in values; `Infinity` for all. `*print-level*` can only lower it. Default: 20. */
  printLevel: check.characters,
  /**
   * `text`: for people, within limits. `data`: in standard syntax, for `read`, at most 1,000,000 characters in all. `ids`: the decimal ids under
   * which the image keeps the values, for `Program.inspectObject`. Default: `text`.
   */
  valuesAs: check.choice(["text", "data", "ids"]),
  /**
   * Milliseconds after which running code is interrupted: it stops with the reason `interrupt`. Code that is stopped then is left alone, and has no
   * limit when it goes on.
   * With `onError: "unwind"` it ends instead, with the outcome `aborted`. They begin when the code is sent: loading the runtime does not
   * count. Default: no limit.
   */
  timeout: check.milliseconds,
  /** When aborted, ends the evaluation in the image, whether it runs or is stopped. */
  signal: check.signal,
  /** Called with every piece of output as it arrives, in the order of each stream. */
  onOutput: check.function<(chunk: OutputChunk) => void>(),
  /** Called with a sentence without a full stop about what the evaluation is doing, such as `Compiling src/model.lisp`. */
  onProgress: check.function<(text: string) => void>(),
};

/** How to evaluate. */
export interface EvaluateOptions extends OptionsOf<typeof evaluateOptions> {}

export const frameOptions = {
  ...waitOptions,
  /** The package to read the code in, and to print the values in. Default: that of the frame's function. */
  package: check.text,
  /** Characters of each printed value that are sent, at most 1,000,000 for all values together. Default: 20,000. */
  valueLimit: check.characters,
  /** `text`: for people. `ids`: as for an evaluation. Default: `text`. */
  valuesAs: check.choice(["text", "ids"]),
};

/** How to evaluate in a frame. */
export interface FrameEvaluationOptions extends OptionsOf<typeof frameOptions> {}

/** The part of a stop that an evaluation needs. */
export interface StopOfTask {
  readonly thread: number;
  readonly condition: ErrorSnapshot;
  readonly isLive: boolean;
  readonly isLeaving: boolean;
  abort(): Promise<void>;
}

/**
 * Something that a task reports while it runs.
 *
 * - `output`: a piece of its output.
 * - `progress`: what it is doing, as a sentence without a full stop, such as `Compiling src/model.lisp`.
 * - `stopped`: its thread has stopped in the debugger.
 */
export type TaskEventOf<Stop> =
  | ({ readonly type: "output" } & OutputChunk)
  | { readonly type: "progress"; readonly text: string }
  | { readonly type: "stopped"; readonly stop: Stop };

/**
 * Running code, from sending it to its final reply: an evaluation, or work of this library such as `code.loadSystem`.
 *
 * `for await (const event of task)` reads its output, progress and stops as they come; `result()` has its result.
 *
 * @typeParam Stop - `Stop`, which is not imported here because it imports this file.
 */
export interface TaskOf<Stop, Result> {
  /** Id of the request. */
  readonly id: number;
  /** Swank's id of its thread, if known: after its first stop, or after `interrupt` or `abort`. */
  readonly thread: number | undefined;
  /** Its current stop, if it is stopped. */
  readonly stop: Stop | undefined;
  /** True when its code has been sent: what it needs in the image is loaded first. */
  readonly isSent: boolean;
  /** True after the last outcome. */
  readonly isSettled: boolean;
  /** Milliseconds for which it has waited for an answer of the user in Emacs. They do not count for `timeout`. */
  readonly userWait: number;
  /**
   * The lock for which it waited when `interrupt` was last called, or its `timeout` passed, and the holder, e.g. `the lock "cache", which thread 7
   * holds`; `undefined` if it waited for none.
   */
  readonly awaitedLock: string | undefined;

  /**
   * Waits until the code has been sent, or the task has ended without that. Never rejects.
   *
   * @returns false if a limit is reached first
   */
  begun(limits?: WaitOptions): Promise<boolean>;

  /**
   * The evaluation's next outcome, or the current one if that was not taken yet.
   *
   * After the last outcome (`returned`, `aborted`, `lost`) it returns that one again, with later output of threads that the code started.
   *
   * @throws SwankError `WAIT_TIMEOUT` when `timeout` passes, `CANCELLED` when `signal` is aborted (the evaluation continues in both cases);
   * `NO_SUCH_PACKAGE`, `RUNTIME_FAILED`, `INVALID_ARGUMENT`, `CANCELLED` if the evaluation's own `signal` was aborted before the code was sent, or
   * the reason of a connection that was closed before: the code was never run.
   */
  next(options?: WaitOptions): Promise<OutcomeOf<Stop>>;

  /**
   * The result, when the code has returned. For an evaluation that is its `returned` outcome.
   *
   * It always settles. When the thread stops in the debugger, it rejects with `EVALUATION_STOPPED`, unless a listener of the client's event
   * `stop` resumes the thread at once. The thread then stays stopped: resume it through `stop`, and call `result` again.
   *
   * @throws LispError with a report, if an error ended the code (`onError: "unwind"`, and code that cannot be read or compiled). EvaluationError,
   * whose `transcript` has the output since the last outcome: `EVALUATION_STOPPED`, with a LispError of the condition as its cause; `CANCELLED`
   * after `signal` was aborted; `EVALUATION_TIMEOUT` after `timeout` if nothing may stop; `REQUEST_ABORTED` if the code was ended otherwise; the
   * reason of a lost connection; after the code has returned, the errors of the function that started the task, and `UNEXPECTED_REPLY` for values
   * that do not decode. SwankError: the errors of `next` for code that never ran. If the code has not returned, `transcript` is a copy, and the
   * next outcome or a loop has this output, too. If it has returned, `result` takes the output, as `next` does.
   */
  result(): Promise<Result>;

  /**
   * What the task reports, as it comes: `for await (const event of task)`.
   *
   * The loop begins with the output that no outcome has taken since the start or the last stop, so a loop that begins late misses no output.
   * Progress before the loop began is not repeated. The loop ends when the task has ended, when `signal` or `timeout` could not end the code, and
   * when the thread is still stopped after the body has handled the event `stopped`: a body that resumes the thread gets the next events.
   *
   * Several loops each get all output and progress. A loop skips a stop if the thread has been resumed, or is being resumed, when the loop
   * reaches it, and gets it if the request to resume fails. Let only one loop resume the thread. Events that are not read yet stay in memory.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<TaskEventOf<Stop>, undefined>;

  /**
   * Output received since the last outcome was taken, before the next one. The next outcome has the output after this.
   */
  takeTranscript(): Transcript;

  /**
   * Interrupts the evaluation: `next()` then returns a stop with the reason `interrupt`.
   *
   * @returns false if it is not running: it has ended, or is stopped and no request to resume it is under way.
   * @throws SwankError if the request to the image fails.
   */
  interrupt(): Promise<boolean>;

  /**
   * Unwinds the evaluation, stopped or running. If its cleanup forms do not end, its thread is killed. If its code has not been sent, it never is.
   *
   * @returns its last outcome, usually `aborted`.
   * @throws SwankError `WAIT_TIMEOUT` if its thread could not be killed (code that runs without interrupts); the errors of `next`.
   */
  abort(): Promise<OutcomeOf<Stop>>;
}
