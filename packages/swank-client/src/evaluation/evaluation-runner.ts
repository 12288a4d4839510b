import { scan } from "sexp-parser";
import {
  checkChoice,
  checkLimit,
  checkOptions,
  checkSignal,
  checkText,
  checkTimeout,
  type OptionNames,
} from "../base/check-arguments.js";
import { asSwankError, SwankError } from "../base/errors.js";
import { callListener } from "../base/typed-emitter.js";
import { abortEvaluation } from "../calls/abort-evaluation.js";
import { type EvaluateCall, type EvaluationResult, evaluate } from "../calls/evaluate.js";
import { interrupt } from "../calls/interrupt.js";
import { kill } from "../calls/kill.js";
import type { SessionUpdate } from "../calls/stop-data.js";
import { type Caller, callerOf } from "../lisp/caller.js";
import { type HeldLock, lockHeld } from "../lisp/held-lock.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import type { Place } from "../lisp/place.js";
import type { Connection } from "../protocol/connection/connection.js";
import type { WriteStringMessage } from "../protocol/wire/messages.js";
import {
  type EvaluateOptions,
  type EvaluationOf,
  ON_ERROR,
  POLICIES,
  type StopOfTask,
  VALUE_FORMATS,
} from "./evaluation.js";
import { type EvaluationControl, EvaluationTask } from "./evaluation-task.js";
import { type AtLimit, interruptOrEnd, Limits } from "./limits.js";
import type { Latch } from "./outcome-slot.js";
import { explainReadFailure } from "./read-failure.js";
import { type InputFunction, inputFunction, readInput } from "./read-input.js";
import { type OutputTarget, outputTarget, type SessionState } from "./transcript.js";

const EVALUATE_OPTIONS: OptionNames<EvaluateOptions> = {
  package: true,
  stdin: true,
  onRead: true,
  onError: true,
  policy: true,
  outputLimit: true,
  valueLimit: true,
  conditions: true,
  printLength: true,
  printLevel: true,
  valuesAs: true,
  timeout: true,
  signal: true,
  onOutput: true,
  onProgress: true,
};

const OUTPUT_LIMIT = 100_000;
const OUTPUT_TAIL = 4000;

/** Number of ended evaluations that still receive text from threads that their code started. */
const REMEMBERED = 64;

/** Sends evaluations to the image, and passes the image's messages to them. */
export class EvaluationRunner<Stop extends StopOfTask> {
  readonly #connection: Connection;
  readonly #caller: Caller;
  readonly #lisp: LispRunner;
  readonly #running = new Map<number, EvaluationTask<Stop>>();
  /** The latest ended evaluations, oldest first. */
  readonly #ended = new Map<number, EvaluationTask<Stop>>();
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
    };
  }

  /** Evaluations that have not ended. */
  get running(): readonly EvaluationOf<Stop>[] {
    return [...this.#running.values()];
  }

  /** The running evaluation with one of these request ids. */
  findAmong(requests: readonly number[]): EvaluationTask<Stop> | undefined {
    return requests.map((id) => this.#running.get(id)).find((task) => task !== undefined);
  }

  /**
   * Never throws: `next()` reports errors of the call.
   *
   * @param atLimit - Default: interrupts the evaluation, or ends it.
   */
  start(code: string, options: EvaluateOptions, atLimit?: AtLimit): EvaluationOf<Stop> {
    const task = new EvaluationTask<Stop>(this.#connection.nextId(), this.#control, this.#session, {
      onOutput: this.#guarded(options?.onOutput, "output"),
      onProgress: this.#guarded(options?.onProgress, "progress"),
      outputLimit: options?.outputLimit,
    });
    this.#running.set(task.id, task);
    void this.#run(task, code, options, atLimit);
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

  #retire(task: EvaluationTask<Stop>): void {
    this.#running.delete(task.id);
    this.#readers.delete(task.id);
    this.#heldLocks.delete(task.id);
    this.#ended.set(task.id, task);
    for (const oldest of this.#ended.keys()) {
      if (this.#ended.size <= REMEMBERED) break;
      this.#ended.delete(oldest);
    }
  }

  async #run(task: EvaluationTask<Stop>, code: string, options: EvaluateOptions, atLimit?: AtLimit): Promise<void> {
    const wasOpen = this.#connection.isOpen;
    let limits: Limits | undefined;
    // A stop here is not unwound: the debugger handles it.
    const place: Place = {
      send: (form, { label }) => {
        if (this.#connection.isOpen) task.sent();
        limits?.start();
        this.#caller.watch(task.id, { compilersOnly: true, onHeld: (lock) => void this.#endWait(task, lock) });
        return this.#connection.exchange(form, { label, id: task.id });
      },
    };
    try {
      const call = evaluateCall(task.id, code, options);
      if (options.onRead !== undefined) this.#readers.set(task.id, inputFunction(options.onRead));
      if (isLimited(options)) {
        const reached = atLimit ?? interruptOrEnd(options.onError);
        limits = new Limits(options, task, (limit) => reached(task, limit));
      }
      const result = await this.#lisp.runAt(place, evaluate, [call], { signal: options.signal });
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

  /**
   * Ends an evaluation that waits for the compiler's lock until a client ends the stop that holds it. Until it has ended in Lisp, it could
   * still get the lock, and its code would run on.
   */
  async #endWait(task: EvaluationTask<Stop>, lock: HeldLock): Promise<void> {
    this.#heldLocks.set(task.id, lock);
    await task.unwind();
    this.#connection.endWait(task.id, lockHeld(lock));
  }

  #finish(task: EvaluationTask<Stop>, code: string, result: Exclude<EvaluationResult, { status: "unwound" }>): void {
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
      const { values, cut: cutValues, count: valueCount, forms: formCount, unshown: unshownForms, idle } = result;
      const idleBreakpoints = idle === undefined ? {} : { idleBreakpoints: idle };
      task.ended({ status: "returned", values, cutValues, valueCount, formCount, unshownForms, ...idleBreakpoints });
    } else if (result.status === "aborted") this.#aborted(task);
    else task.ended({ status: "aborted", error: explainReadFailure(code, result.error, result.failure) });
  }

  #aborted(task: EvaluationTask<Stop>): void {
    const lock = this.#heldLocks.get(task.id);
    if (lock === undefined) task.ended({ status: "aborted" });
    else {
      const { code, message, ...more } = lockHeld(lock);
      task.refused(new SwankError(code, `${evaluate.name}: ${message}`, more));
    }
  }

  /** Its thread was ended from outside: killed, or by the image's exit. */
  async #unwound(task: EvaluationTask<Stop>): Promise<void> {
    if (!this.#exiting.delete(task.id)) task.ended({ status: "aborted" });
    else task.ended({ status: "lost", cause: await this.#connection.closed });
  }
}

function isLimited({ timeout, signal }: EvaluateOptions): boolean {
  return timeout !== undefined || signal !== undefined;
}

/**
 * The call for the options.
 *
 * @throws SwankError `INVALID_ARGUMENT`
 */
function evaluateCall(id: number, code: string, options: EvaluateOptions): EvaluateCall {
  checkOptions("evaluate", options, EVALUATE_OPTIONS);
  const {
    package: packageName,
    stdin,
    onError = "stop",
    policy = "debug",
    outputLimit = OUTPUT_LIMIT,
    valueLimit,
    printLength,
    printLevel,
    valuesAs = "text",
    conditions = false,
  } = options;
  checkText("code", code);
  if (packageName !== undefined) checkText("package", packageName);
  if (stdin !== undefined) checkText("stdin", stdin);
  if (valueLimit !== undefined) checkLimit("valueLimit", valueLimit);
  if (conditions !== true && conditions !== false) checkText("conditions", conditions);
  if (printLength !== undefined) checkLimit("printLength", printLength);
  if (printLevel !== undefined) checkLimit("printLevel", printLevel);
  checkTimeout("timeout", options.timeout);
  checkSignal(options.signal);
  checkLimit("outputLimit", outputLimit);
  checkChoice("onError", onError, ON_ERROR);
  checkChoice("policy", policy, POLICIES);
  checkChoice("valuesAs", valuesAs, VALUE_FORMATS);
  return {
    id,
    code,
    package: packageName,
    stdin,
    check: scan(code).kind !== "balanced",
    unwind: onError === "unwind",
    debug: policy === "debug",
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
