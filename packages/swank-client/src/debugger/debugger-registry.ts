import type { Sexp } from "sexp-parser";
import type { Caller } from "../caller.js";
import { decodeValue } from "../decode-value.js";
import { SwankError } from "../errors.js";
import type { EvaluationTask } from "../evaluation/evaluation-task.js";
import { type StopReport, stopReport } from "../runtime/decode-snapshot.js";
import type { RuntimeInstaller } from "../runtime/installer.js";
import type { DebugMessage, DebugReturnMessage } from "../wire/messages.js";
import { DebuggerSession } from "./debugger-session.js";
import { ParkedChannel } from "./parked-channel.js";
import type { ParkedThread } from "./parked-thread.js";
import { ParkedThreads } from "./parked-threads.js";
import { wireReport } from "./wire-report.js";

/** Called for every new stop, once it is known what stopped; `task` runs the evaluation in whose thread it is. */
export type StopListener = (session: DebuggerSession, report: StopReport, task: EvaluationTask | undefined) => void;

/** Finds the evaluation that one of these requests is. */
export type FindTask = (requests: readonly number[]) => EvaluationTask | undefined;

/** Milliseconds that a stopped thread has to say what stopped it. */
const REPORT_TIME = 10_000;

/** Threads and levels in the debugger at once; an image has not that many threads. */
const MOST_STOPS = 10_000;
/** Stops inside stops; SBCL itself gives up after some ten. */
const MOST_LEVELS = 1000;

/** Follows which threads are in the debugger, and makes a session of each. */
export class DebuggerRegistry {
  readonly #caller: Caller;
  readonly #installer: RuntimeInstaller;
  readonly #findTask: FindTask;
  readonly #onStop: StopListener;
  readonly #parked = new ParkedThreads();
  readonly #sessions = new Set<DebuggerSession>();

  constructor(caller: Caller, installer: RuntimeInstaller, findTask: FindTask, onStop: StopListener) {
    this.#caller = caller;
    this.#installer = installer;
    this.#findTask = findTask;
    this.#onStop = onStop;
  }

  /** Stops that have not ended, the latest last. */
  get sessions(): readonly DebuggerSession[] {
    return [...this.#sessions];
  }

  enter(message: DebugMessage): void {
    if (this.#caller.owns(message)) return;
    if (message.level > MOST_LEVELS) {
      this.#caller.giveUp(tooManyStops());
      return;
    }
    const parked = this.#parked.enter(message);
    if (this.#parked.size > MOST_STOPS) this.#caller.giveUp(tooManyStops());
    else if (parked !== undefined) void this.#announce(parked);
  }

  leave({ thread, level }: DebugReturnMessage): void {
    this.#parked.leave(thread, level);
  }

  /** The connection is over, and with it every stop's way to be asked. */
  clear(): void {
    this.#parked.clear();
  }

  async #announce(parked: ParkedThread): Promise<void> {
    const report = await this.#report(parked);
    if (!parked.isLive) return;
    const task = this.#findTask(parked.message.continuations);
    const session = new DebuggerSession(
      new ParkedChannel(parked, this.#caller, this.#atStop(report)),
      report,
      this.#installer,
      {
        evaluation: task,
      },
    );
    this.#sessions.add(session);
    parked.left.addEventListener("abort", () => this.#sessions.delete(session), { once: true });
    this.#onStop(session, report, task);
  }

  #atStop({ number }: StopReport): (call: Sexp) => Sexp {
    const calls = this.#installer.loaded;
    return (call) => (number === undefined || calls === undefined ? call : calls.atStop(number, call));
  }

  /** Swank's message alone is enough to go on with when the thread cannot be asked. */
  async #report({ message, thread, left }: ParkedThread): Promise<StopReport> {
    const calls = this.#installer.loaded;
    if (calls === undefined) return wireReport(message);
    try {
      const options = { label: "describing a stop", thread, timeout: REPORT_TIME, signal: left };
      return decodeValue(stopReport, await this.#caller.call(calls.stop(), options), options.label);
    } catch (error) {
      if (!(error instanceof SwankError) || error.code === "UNEXPECTED_REPLY") {
        process.emitWarning(`A stop was reported in a form that is not understood: ${String(error)}`);
      }
      return wireReport(message);
    }
  }
}

function tooManyStops(): SwankError {
  return new SwankError(
    "LIMIT_EXCEEDED",
    `More than ${MOST_STOPS} stops of threads were announced, or one inside more than ${MOST_LEVELS}.`,
  );
}
