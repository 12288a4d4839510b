import { positionAt, scan } from "sexp-parser";
import { asSwankError, SwankError } from "../base/errors.js";
import { callListener } from "../base/events.js";
import { check, checkOptions } from "../base/options.js";
import { beforeSending, eitherSignal, type Latch } from "../base/waiting.js";
import { type Caller, callerOf, type HeldLock, lockHeld } from "../runtime/caller.js";
import type { Place as Destination } from "../runtime/function.js";
import type { LispRunner } from "../runtime/runner.js";
import { findUnbalanced, lineText } from "../source-text/balance.js";
import { CountedText } from "../source-text/source-text.js";
import type { Connection } from "../wire/connection.js";
import type { WriteStringMessage } from "../wire/messages.js";
import {
  abortEvaluation,
  type EvaluateCall,
  type EvaluateOptions,
  type EvaluationResult,
  evaluate,
  evaluateOptions,
  interrupt,
  kill,
  type ReadFailure,
  type Returned,
  type StopOfTask,
  type TaskOf,
} from "./evaluate.js";
import type { ErrorSnapshot, SessionUpdate } from "./report.js";
import { type EvaluationControl, EvaluationTask, Limits } from "./task.js";
import { type OutputTarget, outputTarget, type SessionState } from "./transcript.js";

/** Completes Lisp's report of a read error with the position, the forms evaluated before it, and names that were probably meant. */
function explainReadFailure(code: string, error: ErrorSnapshot, failure: ReadFailure): ErrorSnapshot {
  const where = locate(code, failure);
  if (where === undefined) return error;
  const message = `${error.message}\n${where.text} ${evaluatedBefore(failure.evaluated)}`;
  const lines = where.lines.map((line) => `${line}: ${lineText(code, line)}`);
  return { ...error, message: [message, ...lines, ...(failure.hint === undefined ? [] : [failure.hint])].join("\n") };
}

/** The position of an error in words, and the numbers of the lines that have probably caused it, if those are others. */
interface Place {
  readonly text: string;
  readonly lines: readonly number[];
}

/** The position of the error. The scan finds the unbalanced parenthesis or quote; the reader only knows how far it read. */
function locate(code: string, { offset, evaluated }: ReadFailure): Place | undefined {
  const unbalanced = evaluated === 0 ? findUnbalanced(code) : undefined;
  if (unbalanced !== undefined)
    return { text: `${at(unbalanced)}: ${unbalanced.message}.`, lines: unbalanced.suspects };
  if (offset === undefined) return undefined;
  // Lisp counts characters, JavaScript UTF-16 code units
  const position = positionAt(code, beginning(code, new CountedText(code, () => 1).offsetOf(offset)));
  return { text: `${at(position)}.`, lines: [] };
}

function at({ line, column }: { readonly line: number; readonly column: number }): string {
  return `Line ${line}, column ${column}`;
}

const DELIMITER = /[\s()"'`,;]/;

/** The start of the last token before `end`, up to which Lisp has read. */
function beginning(code: string, end: number): number {
  let start = end - 1;
  while (start > 0 && !DELIMITER.test(code.charAt(start)) && !DELIMITER.test(code.charAt(start - 1))) start -= 1;
  return Math.max(0, start);
}

function evaluatedBefore(forms: number): string {
  if (forms === 0) return "Nothing has been evaluated.";
  return forms === 1 ? "The form before it has been evaluated." : `The ${forms} forms before it have been evaluated.`;
}

/** Gives the next text; `undefined` or `""` at its end. An untyped caller may give other things. */
type InputFunction = () => Promise<unknown>;

/**
 * The function that gives the next text of the option `onRead`. Bytes of a stream are UTF-8.
 */
function inputFunction(onRead: NonNullable<EvaluateOptions["onRead"]>): InputFunction {
  if (typeof onRead === "function") return async () => onRead();
  const chunks = onRead[Symbol.asyncIterator]();
  const decoder = new TextDecoder();
  return async () => {
    for (;;) {
      const { done, value } = await chunks.next();
      if (done === true) return undefined;
      const text = value instanceof Uint8Array ? decoder.decode(value, { stream: true }) : value;
      // An empty text, as of a part of a character, would end the input.
      if (text !== "") return text;
    }
  };
}

/**
 * The next text of an evaluation's standard input; `""` at its end, also if the caller's function fails.
 *
 * @param report - Receives what the function throws, and what it returns instead of text.
 */
async function readInput(
  next: InputFunction = async () => undefined,
  report: (error: unknown) => void,
): Promise<string> {
  try {
    const text = await next();
    if (text === undefined || typeof text === "string") return text ?? "";
    report(new TypeError(`onRead gives a string or undefined, not ${typeof text}.`));
  } catch (error) {
    report(error);
  }
  return "";
}

const OUTPUT_LIMIT = 100_000;

const OUTPUT_TAIL = 4000;

/** Number of ended evaluations that still receive text from threads that their code started. */
const REMEMBERED = 64;

/** Code to run, and what its values mean. */
export interface Work<Result> {
  readonly code?: string;
  /** Instead: asks the image what is needed to make the code. The signal ends that. */
  readonly prepare?: (signal: AbortSignal | undefined) => Promise<string>;
  /** The result in its last outcome. */
  readonly resultOf: (outcome: Returned) => Result | Promise<Result>;
  /** Called once, when the code has returned, before its task ends. Must not throw. */
  readonly onReturned?: () => void;
}

/** Sends evaluations to the image, and passes the image's messages to them. */
export class EvaluationRunner<Stop extends StopOfTask> {
  readonly #connection: Connection;
  readonly #caller: Caller;
  readonly #lisp: LispRunner;
  readonly #running = new Map<number, EvaluationTask<Stop, unknown>>();
  /** The latest ended evaluations, oldest first. */
  readonly #ended = new Map<number, EvaluationTask<Stop, unknown>>();
  /** The sources of the input of running evaluations. */
  readonly #readers = new Map<number, InputFunction>();
  /** The locks for which evaluations wait that are therefore being aborted. */
  readonly #heldLocks = new Map<number, HeldLock>();
  /** Evaluations whose image has announced its exit. */
  readonly #exiting = new Set<number>();
  /** The session's first package: COMMON-LISP-USER, whatever the image's global package is. */
  readonly #session: SessionState = { package: "COMMON-LISP-USER" };
  readonly #control: EvaluationControl;

  constructor(connection: Connection, lisp: LispRunner) {
    this.#connection = connection;
    this.#caller = callerOf(connection);
    this.#lisp = lisp;
    this.#control = {
      interrupt: (id, count) => lisp.run(interrupt, id, count),
      abort: (id) => lisp.run(abortEvaluation, id),
      kill: (id) => lisp.run(kill, id),
      awaitedLock: (id) => this.#caller.awaitedLock(id),
      end: (id) => this.#caller.end(id),
      abilities: lisp.abilities,
      giveUp: (reason) => this.#caller.giveUp(reason),
    };
  }

  /** Evaluations that have not ended. */
  get running(): readonly TaskOf<Stop, unknown>[] {
    return [...this.#running.values()];
  }

  /** The running evaluation with one of these request ids. */
  findAmong(requests: readonly number[]): EvaluationTask<Stop, unknown> | undefined {
    return requests.map((id) => this.#running.get(id)).find((task) => task !== undefined);
  }

  /** Runs code. Never throws: `next()` and `result()` report errors of the call. */
  start<Result>(work: Work<Result>, options: EvaluateOptions): TaskOf<Stop, Result> {
    const listeners = {
      onOutput: this.#guarded(options?.onOutput, "output"),
      onProgress: this.#guarded(options?.onProgress, "progress"),
      outputLimit: options?.outputLimit,
    };
    const id = this.#connection.nextId();
    const task = new EvaluationTask<Stop, Result>(id, this.#control, this.#session, listeners, work.resultOf);
    this.#running.set(id, task);
    void this.#run(task, work, options);
    return task;
  }

  /**
   * The thread of an evaluation has stopped.
   *
   * @param left - Opens when it leaves the stop.
   */
  stopped(id: number, stop: Stop, left: Latch, update: SessionUpdate | undefined): void {
    const task = this.#running.get(id);
    this.#caller.unwatch(id);
    if (update !== undefined) task?.report(update);
    task?.stopped(stop, left);
  }

  #guarded<T>(listener: ((item: T) => void) | undefined, event: string): ((item: T) => void) | undefined {
    if (typeof listener !== "function") return undefined;
    const report = (error: unknown) => this.#connection.reportListenerError(error, event);
    return (item) => callListener(listener, item, report);
  }

  /** @returns false for text of no evaluation. */
  output({ target, text }: WriteStringMessage): boolean {
    const found = outputTarget(target);
    if (found === undefined) return false;
    const task = this.#running.get(found.id) ?? this.#ended.get(found.id);
    if (found.stream === "progress") task?.progress(text);
    else if (found.stream === "wait") task?.waits(text !== "");
    else if (found.stream === "read") void this.#answer(found);
    else if (found.stream !== "exit") task?.output(found.stream, text, found.omittedBefore);
    else if (this.#running.has(found.id)) this.#exiting.add(found.id);
    return true;
  }

  /** Answers a thread that waits for input. Whatever the caller does, it gets an answer. */
  async #answer({ id, waiting }: OutputTarget): Promise<void> {
    if (waiting === undefined) return;
    const text = await readInput(this.#readers.get(id), (error) => this.#connection.reportListenerError(error, "read"));
    if (this.#connection.isOpen) this.#connection.send({ type: "emacs-return-string", ...waiting, text });
  }

  #retire(task: EvaluationTask<Stop, unknown>): void {
    this.#running.delete(task.id);
    this.#readers.delete(task.id);
    this.#heldLocks.delete(task.id);
    this.#ended.set(task.id, task);
    for (const oldest of this.#ended.keys()) {
      if (this.#ended.size <= REMEMBERED) break;
      this.#ended.delete(oldest);
    }
  }

  async #run(
    task: EvaluationTask<Stop, unknown>,
    { code: given, prepare, onReturned }: Work<unknown>,
    options: EvaluateOptions,
  ): Promise<void> {
    const wasOpen = this.#connection.isOpen;
    let limits: Limits | undefined;
    // A stop here is not unwound: the debugger handles it.
    const place: Destination = {
      send: (form, { label }) => {
        if (this.#connection.isOpen) task.sent();
        limits?.start();
        this.#caller.watch(task.id, { isEvaluation: true, onHeld: (lock) => void this.#endWait(task, lock) });
        return this.#connection.request(form, { label, id: task.id });
      },
    };
    try {
      checkOptions("evaluate", options, evaluateOptions);
      if (prepare === undefined) check.text("code", given);
      if (options.onRead !== undefined) this.#readers.set(task.id, inputFunction(options.onRead));
      // The objects that ids name are kept by SBCL's runtime.
      if (options.valuesAs === "ids") this.#lisp.abilities?.require("inspect", evaluate.name);
      if (isLimited(options)) limits = new Limits(options, task, (limit) => task.reached(limit, options));
      const signal = this.#signalFor(task, options, prepare !== undefined || this.#isSerial);
      const code = prepare === undefined ? (given ?? "") : await prepare(signal);
      if (this.#isSerial) await beforeSending(this.#turnOf(task), evaluate.name, { signal });
      const result = await this.#lisp.runAt(place, evaluate, [evaluateCall(task.id, code, options)], { signal });
      if (result.status === "returned") onReturned?.();
      if (result.status === "unwound") await this.#unwound(task);
      else this.#finish(task, code, result);
    } catch (error) {
      const cause = asSwankError(error);
      if (wasOpen && !this.#connection.isOpen) task.ended({ status: "lost", cause });
      else task.refused(cause);
    } finally {
      this.#caller.unwatch(task.id);
      limits?.release();
      this.#retire(task);
    }
  }

  /** True for an image that serves one request at a time. */
  get #isSerial(): boolean {
    return this.#lisp.abilities?.isSerial === true;
  }

  /**
   * Resolves when those evaluations have ended that were started before.
   *
   * @throws SwankError `NOT_SUPPORTED` if one of them is stopped, which blocks the image.
   */
  async #turnOf(task: EvaluationTask<Stop, unknown>): Promise<void> {
    for (;;) {
      const first = [...this.#running.values()].find((each) => each === task || !each.isSettled);
      if (first === undefined || first === task) return;
      if (first.staysStopped) throw this.#blocked();
      await first.change();
    }
  }

  #blocked(): SwankError {
    const { implementation = "The image" } = this.#lisp.abilities ?? {};
    return new SwankError(
      "NOT_SUPPORTED",
      `${evaluate.name}: ${implementation} has no threads, and its only one is stopped in the debugger.`,
      {
        remedy: "Resume or abort the stop, or evaluate in one of its frames.",
        details: { ability: "threads", implementation },
      },
    );
  }

  /** The signal that ends the wait for what the code needs in the image. */
  #signalFor(
    task: EvaluationTask<Stop, unknown>,
    { signal }: EvaluateOptions,
    isPrepared: boolean,
  ): AbortSignal | undefined {
    if (!isPrepared && this.#lisp.hasLoaded("evaluate")) return signal;
    const unsent = new AbortController();
    task.waitsForRuntime(() => unsent.abort());
    return eitherSignal(signal, unsent.signal);
  }

  /**
   * Ends an evaluation that waits for the compiler's lock until a client ends the stop that holds it. Until it has ended in Lisp, it could
   * still get the lock, and its code would run on.
   */
  async #endWait(task: EvaluationTask<Stop, unknown>, lock: HeldLock): Promise<void> {
    this.#heldLocks.set(task.id, lock);
    await task.unwind();
    this.#connection.endWait(task.id, lockHeld(lock));
  }

  #finish(
    task: EvaluationTask<Stop, unknown>,
    code: string,
    result: Exclude<EvaluationResult, { status: "unwound" }>,
  ): void {
    if (result.status === "no-such-package") {
      task.refused(new SwankError("NO_SUCH_PACKAGE", `There is no package named ${result.name}.`));
      return;
    }
    if (result.status === "no-such-type") {
      task.refused(
        new SwankError("INVALID_ARGUMENT", `conditions: There is no type of conditions named ${result.name}.`),
      );
      return;
    }
    task.report(result.update);
    if (result.status === "returned") {
      const { update, ...returned } = result;
      task.ended(returned);
    } else if (result.status === "aborted") this.#aborted(task);
    else {
      const error = explainReadFailure(code, result.error, result.failure);
      task.ended({ status: "aborted", error, ...(result.held !== undefined && { held: result.held }) });
    }
  }

  #aborted(task: EvaluationTask<Stop, unknown>): void {
    const lock = this.#heldLocks.get(task.id);
    if (lock === undefined) task.ended({ status: "aborted" });
    else {
      const { code, message, ...more } = lockHeld(lock);
      task.refused(new SwankError(code, `${evaluate.name}: ${message}`, more));
    }
  }

  /** Its thread was ended from outside: killed, or by the image's exit. */
  async #unwound(task: EvaluationTask<Stop, unknown>): Promise<void> {
    if (!this.#exiting.delete(task.id)) task.ended({ status: "aborted" });
    else task.ended({ status: "lost", cause: await this.#connection.closed });
  }
}

function isLimited({ timeout, signal }: EvaluateOptions): boolean {
  return timeout !== undefined || signal !== undefined;
}

/** The call for the options, which are sound. */
function evaluateCall(id: number, code: string, options: EvaluateOptions): EvaluateCall {
  const { onError, policy, outputLimit = OUTPUT_LIMIT, valuesAs, conditions = false } = options;
  const { package: packageName, stdin, valueLimit, printLength, printLevel } = options;
  return {
    id,
    code,
    package: packageName,
    stdin,
    check: scan(code).kind !== "balanced",
    unwind: onError === "unwind",
    debug: policy !== "keep",
    limit: outputLimit,
    tail: OUTPUT_TAIL,
    valueLimit,
    conditions,
    printLength,
    printLevel,
    data: valuesAs === "data",
    ids: valuesAs === "ids",
    prompted: options.onRead !== undefined,
  };
}
