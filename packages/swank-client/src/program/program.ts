import { checkChoice, checkId, checkNumber, checkOptions, checkText } from "../base/check-arguments.js";
import { endProgramThread, stopThread, THREAD_ENDINGS, type THREAD_FATES } from "../calls/interrupt-thread.js";
import type { ProgramThreads } from "../calls/program-thread.js";
import { threadsOfProgram } from "../calls/program-threads.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import { THREADS_OPTIONS, type ThreadsOptions } from "./program-options.js";

/** Most frames of each thread. */
const MOST_FRAMES = 30;

/**
 * Questions about the running program. Each loads the module `program` into the image when it is first asked, runs in a thread of its own,
 * and is ended in the image when its signal is aborted.
 */
export class Program {
  readonly #lisp: LispRunner;

  constructor(lisp: LispRunner) {
    this.#lisp = lisp;
  }

  /**
   * The threads of the image, with whose code each runs and what it waits for, and cycles of threads that wait for each other. Threads are
   * interrupted only to read frames, briefly, and not where that could disturb them.
   *
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async threads(options: ThreadsOptions = {}): Promise<ProgramThreads> {
    checkOptions("threads", options, THREADS_OPTIONS);
    const { name, frames = 0, signal } = options;
    if (name !== undefined) checkText("name", name);
    const isCount = Number.isInteger(frames) && frames >= 0 && frames <= MOST_FRAMES;
    checkNumber("frames", frames, `a whole number from 0 to ${MOST_FRAMES}`, isCount);
    return this.#lisp.with({ signal }).run(threadsOfProgram, name, frames);
  }

  /**
   * Interrupts a thread, which then stops in the debugger: `stop` reports it, or the `next` of the evaluation that it runs. A thread that runs
   * code of another client stops in that client's debugger, and `foreignStops` lists it. Threads that this client stops go on when it closes.
   *
   * @param id - Swank's id, as in `threads`.
   * @throws SwankError `NO_SUCH_THREAD`; `INVALID_ARGUMENT` for threads that serve clients and for stopped ones; the errors of `LispRunner.run`.
   */
  async stopThread(id: number): Promise<void> {
    checkId("id", id);
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
    checkId("id", id);
    checkChoice("how", how, THREAD_ENDINGS);
    return this.#lisp.run(endProgramThread, id, how);
  }
}
