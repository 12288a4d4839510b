import { checkNumber, checkOptions, checkText } from "../base/check-arguments.js";
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
}
