import type { OutputChunk } from "../calls/omitted-output.js";
import type { OutcomeOf, Transcript } from "./outcome.js";
import type { WaitOptions } from "./outcome-slot.js";

/** What an error does: stop the thread in the debugger, or end the evaluation. */
export const ON_ERROR = ["stop", "unwind"] as const;

/** How code is compiled: for debugging, or by the image's policy. */
export const POLICIES = ["debug", "keep"] as const;

/**
 * How values are printed: for people, within limits, or for programs, in standard syntax and whole; or `ids`: the image keeps the values, and
 * sends the ids under which `Program` inspects them.
 */
export const VALUE_FORMATS = ["text", "data", "ids"] as const;

/** How to evaluate. */
export interface EvaluateOptions {
  /** Name of the package to read and evaluate in, for this evaluation only. Default: the session's, which follows `in-package`. */
  readonly package?: string | undefined;
  /**
   * Called when the code reads standard input and has read all of `stdin`. Returns the next text, such as a line with its newline, now or
   * later; `undefined` or an empty text is the end of file. Output is sent first, so that `onOutput` has the prompt. Threads that the code
   * starts get the end of file. A stream, such as `process.stdin`, gives its next piece at each call, and keeps the others. Default: end of file.
   */
  readonly onRead?:
    | (() => string | undefined | Promise<string | undefined>)
    | AsyncIterable<string | Uint8Array>
    | undefined;
  /** The text of standard input. Default: empty. */
  readonly stdin?: string | undefined;
  /** On an error, `stop` the thread in the debugger, or `unwind`: end the evaluation with a full report. Default: `stop`. */
  readonly onError?: (typeof ON_ERROR)[number] | undefined;
  /** Compile with all frames, variables and steps (`debug`), or by the image's policy (`keep`). Default: `debug`. */
  readonly policy?: (typeof POLICIES)[number] | undefined;
  /**
   * Characters of each output stream that are sent. Of the rest, only the last 4,000 are sent, and `outputOmitted` counts the others. With `Infinity`, all is sent to `onOutput`, and
   * an outcome has the first 2,000,000 and the last 10,000. Default: 100,000.
   */
  readonly outputLimit?: number | undefined;
  /** Characters of each printed value that are sent, at most 1,000,000 for all values together. Default: 20,000. */
  readonly valueLimit?: number | undefined;
  /**
   * Logs the conditions that the evaluation and the threads that it starts signal, with the handlers that take them: `true`, or the name of a
   * type of conditions. Default: false, which costs nothing. Signalling takes some 50 µs longer meanwhile.
   */
  readonly conditions?: boolean | string | undefined;
  /** Elements of each list or vector that are shown in values; `Infinity` for all. `*print-length*` can only lower it. Default: 200. */
  readonly printLength?: number | undefined;
  /** Levels of nesting that are shown in values; `Infinity` for all. `*print-level*` can only lower it. Default: 20. */
  readonly printLevel?: number | undefined;
  /**
   * `text`: for people, within limits. `data`: in standard syntax, for `read`, at most 1,000,000 characters in all. `ids`: the decimal ids under
   * which the image keeps the values, for `Program.inspectObject`. Default: `text`.
   */
  readonly valuesAs?: (typeof VALUE_FORMATS)[number] | undefined;
  /**
   * Milliseconds after which running code is interrupted: it stops with the reason `interrupt`, and code that is stopped then is left alone.
   * With `onError: "unwind"` it ends instead, with the outcome `aborted`. They begin when the code is sent: loading the runtime does not
   * count. Default: no limit.
   */
  readonly timeout?: number | undefined;
  /** When aborted, ends the evaluation in the image, whether it runs or is stopped. */
  readonly signal?: AbortSignal | undefined;
  /** Called with every piece of output as it arrives, in the order of each stream. */
  readonly onOutput?: ((chunk: OutputChunk) => void) | undefined;
  /** Called with a sentence without a full stop about what the evaluation is doing, such as `Compiling src/model.lisp`. */
  readonly onProgress?: ((text: string) => void) | undefined;
}

/** How to evaluate in a frame. */
export interface FrameEvaluationOptions extends WaitOptions {
  /** The package to read the code in, and to print the values in. Default: that of the frame's function. */
  readonly package?: string | undefined;
  /** Characters of each printed value that are sent, at most 1,000,000 for all values together. Default: 20,000. */
  readonly valueLimit?: number | undefined;
  /** `text`: for people. `ids`: as for an evaluation. Default: `text`. */
  readonly valuesAs?: "text" | "ids" | undefined;
}

/** The part of a stop that an evaluation needs. */
export interface StopOfTask {
  readonly thread: number;
  readonly isLive: boolean;
  readonly isLeaving: boolean;
  abort(): Promise<void>;
}

/**
 * One request to run code, from sending it to its final reply. `SwankClient.evaluate` makes them.
 *
 * @typeParam Stop - `Stop`, which is not imported here because it imports this file.
 */
export interface EvaluationOf<Stop> {
  /** Id of the request. */
  readonly id: number;
  /** Swank's id of its thread, if known: after its first stop, or after `interrupt` or `abort`. */
  readonly thread: number | undefined;
  /** Its current stop, if it is stopped. */
  readonly stop: Stop | undefined;
  /** True after the last outcome. */
  readonly isSettled: boolean;
  /** Milliseconds for which it has waited for an answer of the user in Emacs. They do not count for `timeout`. */
  readonly userWait: number;

  /**
   * The evaluation's next outcome, or the current one if that was not taken yet.
   *
   * After the last outcome (`returned`, `aborted`, `lost`) it returns that one again, with later output of threads that the code started.
   *
   * @throws SwankError `WAIT_TIMEOUT` when `timeout` passes, `CANCELLED` when `signal` is aborted (the evaluation continues in both cases);
   * `NO_SUCH_PACKAGE`, `RUNTIME_FAILED`, `INVALID_ARGUMENT`, `CANCELLED` if `signal` was aborted before the code was sent, or the reason of a
   * connection that was closed before: the code was never run.
   */
  next(options?: WaitOptions): Promise<OutcomeOf<Stop>>;

  /**
   * Output received since the last outcome was taken, before the next one. The next outcome has the output after this.
   */
  takeTranscript(): Transcript;

  /**
   * The output that belongs to the next outcome, as it arrives: `for await (const { stream, text } of evaluation.chunks())`.
   *
   * It begins with what has arrived since the start or the last stop and was not taken by an outcome, and ends with the outcome: also when the
   * thread stops, for example at an error. After the thread has resumed, call `chunks` again; while it is stopped, there is nothing to wait for. What is not read yet stays in memory.
   */
  chunks(): AsyncIterableIterator<OutputChunk, undefined>;

  /**
   * Interrupts the evaluation: `next()` then returns a stop with the reason `interrupt`.
   *
   * @returns false if it is not running: it has ended, or is stopped and no request to resume it is under way.
   * @throws SwankError if the request to the image fails.
   */
  interrupt(): Promise<boolean>;

  /**
   * Unwinds the evaluation, stopped or running. If its cleanup forms do not end, its thread is killed.
   *
   * @returns its last outcome, usually `aborted`.
   * @throws SwankError `WAIT_TIMEOUT` if its thread could not be killed (code that runs without interrupts); the errors of `next`.
   */
  abort(): Promise<OutcomeOf<Stop>>;
}
