import { SwankError } from "../base/errors.js";
import { describeStop, reportOf, type SessionNews, type StopReport } from "../calls/stop-data.js";
import type { Caller } from "../lisp/caller.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import type { DebugMessage, DebugReturnMessage } from "../protocol/wire/messages.js";
import { type AtStop, ParkedChannel, type ParkedThread, ParkedThreads } from "./parked-threads.js";
import { type Evaluation, Stop } from "./stop.js";

/** Called for every new stop after its thread was asked for a report. `news` is `undefined` if the thread did not answer. */
export type StopListener = (stop: Stop, news: SessionNews | undefined) => void;

/** Finds the evaluation that one of these requests belongs to. */
export type FindEvaluation = (requests: readonly number[]) => Evaluation | undefined;

/** Most levels in the debugger at once, of all threads together; no real image has that many. */
const MOST_STOPS = 10_000;
/** Most stops inside stops; SBCL itself gives up after about ten. */
const MOST_LEVELS = 1000;

/** Tracks the threads in the debugger, and creates a `Stop` for each level. */
export class DebuggerRegistry {
  readonly #caller: Caller;
  readonly #lisp: LispRunner;
  readonly #findEvaluation: FindEvaluation;
  readonly #onStop: StopListener;
  readonly #parked = new ParkedThreads();
  readonly #stops = new Set<Stop>();

  constructor(caller: Caller, lisp: LispRunner, findEvaluation: FindEvaluation, onStop: StopListener) {
    this.#caller = caller;
    this.#lisp = lisp;
    this.#findEvaluation = findEvaluation;
    this.#onStop = onStop;
  }

  /** Stops that have not ended, the latest last. */
  get stops(): readonly Stop[] {
    return [...this.#stops];
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

  /** Ends every stop, because the connection is closed. */
  clear(): void {
    this.#parked.clear();
  }

  async #announce(parked: ParkedThread): Promise<void> {
    const { message, thread, level, left } = parked;
    const { report, news } = await this.#report(parked);
    if (left.aborted) return;
    const channel = new ParkedChannel(parked, this.#caller, this.#atStop(report));
    const evaluation = this.#findEvaluation(message.continuations);
    const stop = new Stop(channel, { thread, level, ...report }, this.#lisp, evaluation);
    this.#stops.add(stop);
    left.addEventListener("abort", () => this.#stops.delete(stop), { once: true });
    this.#onStop(stop, news);
  }

  #atStop({ number }: StopReport): AtStop | undefined {
    const operator = this.#lisp.operator("at-stop", "evaluate");
    return number === undefined || operator === undefined ? undefined : { operator, number };
  }

  /** Asks the thread for a report; falls back to Swank's message if the thread cannot answer. */
  async #report({ message, thread, left }: ParkedThread): Promise<{ report: StopReport; news?: SessionNews }> {
    if (!this.#lisp.hasLoaded("evaluate")) return { report: reportOf(message) };
    try {
      return await this.#lisp.with({ thread, signal: left }).run(describeStop);
    } catch (error) {
      if (!(error instanceof SwankError) || error.code === "UNEXPECTED_REPLY") {
        process.emitWarning(`A stop was reported in a form that is not understood: ${String(error)}`);
      }
      return { report: reportOf(message) };
    }
  }
}

function tooManyStops(): SwankError {
  return new SwankError(
    "LIMIT_EXCEEDED",
    `More than ${MOST_STOPS} stops of threads were announced, or one inside more than ${MOST_LEVELS}.`,
  );
}
