import { check, type QuestionOptions, question } from "../base/options.js";
import type { Task } from "../evaluation/stop.js";
import { type ProgressTask, type StartTask, startPrepared, startRun } from "../evaluation/work.js";
import { type LispRunner, questionsTo } from "../runtime/runner.js";
import { Heap } from "./heap.js";
import { type InspectObjectOptions, inspectObject, type ObjectView, releaseObject, releaseObjects } from "./objects.js";
import { type Profile, type ProfileOptions, type ProfileSource, profileCode } from "./profile.js";
import { type ImageState, imageState } from "./state.js";
import {
  endProgramThread,
  listThreads,
  type ProgramThreads,
  stopThread,
  THREAD_ENDINGS,
  type THREAD_FATES,
  type ThreadsOptions,
} from "./threads.js";
import { type TimedSource, type Timing, type TimingOptions, timeCode } from "./timing.js";
import { type CompleteTrace, completeTraceCode, type TraceOptions, type TraceSource } from "./trace.js";

const checkEnding = check.choice(THREAD_ENDINGS);

/**
 * Questions about the running program, and tasks that watch it. Each runs in a thread of its own, and is ended in the image when its signal is
 * aborted. The first one that needs the module `debug` (threads) or `observe` (all others) loads it into the image.
 */
export class Program {
  /** What is in the heap, what has grown, and what keeps objects alive. */
  readonly heap: Heap;
  readonly #lisp: LispRunner;
  readonly #start: StartTask;

  constructor(lisp: LispRunner, start: StartTask) {
    this.#lisp = lisp;
    this.#start = start;
    this.heap = new Heap(lisp, start);
  }

  /**
   * The threads of the image, with whose code each runs and what it waits for, and cycles of threads that wait for each other. Threads are
   * interrupted only to read frames, briefly, and not where that could disturb them.
   *
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async threads(options: ThreadsOptions = {}): Promise<ProgramThreads> {
    return listThreads(this.#lisp, options);
  }

  /**
   * How much memory the image uses, and how many threads and other clients it has. It interrupts nothing, and takes no time that counts.
   *
   * @throws SwankError the errors of `LispRunner.run`.
   */
  async state(options: QuestionOptions = {}): Promise<ImageState> {
    return questionsTo(this.#lisp, "state", options, question).run(imageState);
  }

  /**
   * Interrupts a thread, which then stops in the debugger: `stop` reports it, or the `next` of the evaluation that it runs. A thread that runs
   * code of another client stops in that client's debugger, and `foreignStops` lists it. Threads that this client stops go on when it closes.
   *
   * @param id - Swank's id, as in `threads`.
   * @throws SwankError `NO_SUCH_THREAD`; `INVALID_ARGUMENT` for threads that serve clients and for stopped ones; the errors of `LispRunner.run`.
   */
  async stopThread(id: number): Promise<void> {
    check.id("id", id);
    await this.#lisp.run(stopThread, id);
  }

  /**
   * Unwinds a thread to where its request or its code began (`abort`), or ends it (`kill`), at the first moment when that is safe. Its cleanup
   * forms run. A thread that runs no request ends in both cases.
   *
   * @returns what became of the thread within some seconds.
   * @throws SwankError as for `stopThread`, and `INVALID_ARGUMENT` for the main thread. `kill` also ends stopped threads.
   */
  async endThread(id: number, how: (typeof THREAD_ENDINGS)[number]): Promise<(typeof THREAD_FATES)[number]> {
    check.id("id", id);
    checkEnding("how", how);
    return this.#lisp.run(endProgramThread, id, how);
  }

  /**
   * Profiles code, or the whole program for some seconds, by SBCL's statistical profiler, or counts calls exactly. The profiler is off again
   * when the task has ended or stops, or the client is gone.
   *
   * @returns the running task; if it stops or is aborted, its `soFar` returns what was found. Never throws: `result()` reports the errors of
   * `Task.result`, and `WATCH_REFUSED` if the profiler runs already or is missing, or for a function that cannot be counted; `NO_SUCH_PACKAGE`,
   * `INVALID_ARGUMENT`.
   */
  profile(source: ProfileSource, options: ProfileOptions = {}): ProgressTask<Profile> {
    const prepare = (signal: AbortSignal | undefined) => profileCode(this.#lisp, source, { ...options, signal });
    return startRun(this.#start, prepare, options, { policy: "keep" });
  }

  /**
   * Times code, alone or against other code, without a profiler: both run in turn for about two seconds, each round often enough for the clock.
   *
   * @returns the running task. Never throws: `result()` reports the errors of `Task.result`, and `INVALID_ARGUMENT`.
   */
  timeCode(source: TimedSource, options: TimingOptions = {}): Task<Timing> {
    const prepare = (signal: AbortSignal | undefined) => timeCode(this.#lisp, source, { ...options, signal });
    return startPrepared(this.#start, prepare, options, { policy: "keep" });
  }

  /**
   * Describes an object with a page of its parts, each with its own id. It calls no code of the user, except printing methods, and updates no
   * instance of a redefined class.
   *
   * @param id - That of a part, of a variable (`objectId`), or of a value of an evaluation with `valuesAs: "ids"`. It does not keep the object
   * alive, but the image keeps the last 100 of these values.
   * @throws SwankError `NO_SUCH_OBJECT`, `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async inspectObject(id: number, options: InspectObjectOptions = {}): Promise<ObjectView> {
    return inspectObject(this.#lisp, id, options);
  }

  /**
   * No longer keeps an object alive, neither for its id nor in this client's history variables (`*`, `/` and so on). Its id stays valid while the
   * program keeps it. Code that runs or is stopped has history variables of its own until it returns.
   *
   * @returns whether it was kept for this client.
   */
  async releaseObject(id: number): Promise<boolean> {
    check.id("id", id);
    return this.#lisp.run(releaseObject, id);
  }

  /**
   * Does the same for all objects that are kept for this client.
   *
   * @returns the number of these objects.
   */
  async releaseObjects(): Promise<number> {
    return this.#lisp.run(releaseObjects);
  }

  /**
   * Records the calls of functions, methods or a whole package, while code runs or for some seconds, with arguments, values, times, and the
   * conditions signalled in them. Nothing is recorded any more when the task has ended or stops, the limit is reached, or the client is gone.
   * The texts are made without calling printing methods of the program.
   *
   * @returns the running task; if it stops or is aborted, its `soFar` returns what was recorded. Never throws: `result()` reports the errors of
   * `Task.result`, and `WATCH_REFUSED` for a function that cannot be traced, `INVALID_ARGUMENT`.
   */
  traceCalls(source: TraceSource, options: TraceOptions): ProgressTask<CompleteTrace> {
    const prepare = (signal: AbortSignal | undefined) => completeTraceCode(this.#lisp, source, { ...options, signal });
    return startRun(this.#start, prepare, options);
  }
}
