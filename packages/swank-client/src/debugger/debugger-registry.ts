import { SwankError } from "../base/errors.js";
import { LimitedTasks } from "../base/limited-tasks.js";
import { describeStop, reportOf, type SessionUpdate, type StopReport, stopIdentity } from "../calls/stop-data.js";
import type { Latch } from "../evaluation/outcome-slot.js";
import type { Caller } from "../lisp/caller.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import type { Place } from "../lisp/place.js";
import type { DebugMessage, DebugReturnMessage } from "../protocol/wire/messages.js";
import { type DebuggerLevel, DebuggerLevels } from "./debugger-levels.js";
import { type AtStop, OwnChannel } from "./own-channel.js";
import { type Evaluation, Stop } from "./stop.js";

/**
 * Called for every new stop after its thread was asked for a report. `left` opens when the thread leaves it; `update` is `undefined` if the
 * thread did not answer.
 */
export type StopListener = (stop: Stop, left: Latch, update: SessionUpdate | undefined) => void;

/** Finds the evaluation that one of these requests belongs to. */
export type FindEvaluation = (requests: readonly number[]) => Evaluation | undefined;

/** Most levels in the debugger at once, of all threads together; no real image has that many. */
const MOST_STOPS = 10_000;
/** Most stops inside stops; SBCL itself gives up after about ten. */
const MOST_LEVELS = 1000;

/** Milliseconds to wait for the runtime before a stop is reported without it: the stopped thread may hold a lock that loading needs. */
const LOADING_TIME = 5000;

/** Most threads without an evaluation that are asked for a report at once: if thousands stop, each still answers in time. */
const MOST_ASKED = 16;

/** Tracks the threads in the debugger, and creates a `Stop` for each level. */
export class DebuggerRegistry {
  readonly #caller: Caller;
  readonly #lisp: LispRunner;
  readonly #findEvaluation: FindEvaluation;
  readonly #onStop: StopListener;
  readonly #levels = new DebuggerLevels();
  readonly #asked = new LimitedTasks(MOST_ASKED);
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
    const entered = this.#levels.enter(message);
    if (this.#levels.size > MOST_STOPS) this.#caller.giveUp(tooManyStops());
    else if (entered !== undefined) void this.#announce(entered);
  }

  leave({ thread, level }: DebugReturnMessage): void {
    this.#levels.leave(thread, level);
  }

  /** Ends every stop, because the connection is closed. */
  clear(): void {
    this.#levels.clear();
  }

  async #announce(entered: DebuggerLevel): Promise<void> {
    const { message, thread, level, left } = entered;
    const evaluation = this.#findEvaluation(message.continuations);
    const ask = () => this.#report(entered);
    const { report, update } = await (evaluation === undefined ? this.#asked.run(ask) : ask());
    if (left.isOpen) return;
    const channel = new OwnChannel(entered, this.#caller, this.#knownStop(report) ?? (() => this.#atStop(entered)));
    const stop = new Stop(channel, { thread, level, ...report }, this.#lisp, evaluation);
    this.#stops.add(stop);
    left.onOpen(() => this.#stops.delete(stop));
    this.#onStop(stop, left, update);
  }

  /** The restriction to a stop that has reported its number. */
  #knownStop({ number }: StopReport): AtStop | undefined {
    const operator = this.#lisp.operator("at-stop", "evaluate");
    return operator === undefined || number === undefined ? undefined : { operator, number };
  }

  /**
   * The restriction to another stop. The thread is asked for the number: its reply names this stop unless `left` opens before, because the
   * message that the thread has left precedes all replies from its next stop.
   */
  async #atStop({ thread, left }: DebuggerLevel): Promise<AtStop | undefined> {
    const operator = this.#lisp.operator("at-stop", "evaluate");
    if (operator === undefined) return undefined;
    const { number } = await this.#lisp.runAt(this.#placeOf(thread, left), stopIdentity, []);
    return { operator, number };
  }

  #placeOf(thread: number, left: Latch): Place {
    return {
      send: (form, { label, timeout }) => this.#caller.reply(form, { label, thread, timeout, until: left }),
    };
  }

  /** Loads the runtime, unless the thread leaves the stop before. */
  #loadsRuntime(left: Latch): Promise<boolean> {
    return this.#lisp.canUse("evaluate", { timeout: LOADING_TIME, signal: left.signal });
  }

  /** Asks the thread for a report; falls back to Swank's message if the thread cannot answer. */
  async #report({ message, thread, left }: DebuggerLevel): Promise<{ report: StopReport; update?: SessionUpdate }> {
    if (left.isOpen) return { report: reportOf(message) };
    // Otherwise a client that evaluates nothing would see less of its stops than others.
    // The question is sent at once if it can be, before other messages are read.
    if (!this.#lisp.hasLoaded("evaluate") && !(await this.#loadsRuntime(left))) return { report: reportOf(message) };
    const place = this.#placeOf(thread, left);
    try {
      return await this.#lisp.runAt(place, describeStop, []);
    } catch (error) {
      if (!(error instanceof SwankError) || error.code === "UNEXPECTED_REPLY") {
        process.emitWarning(`The report of a stop cannot be decoded: ${String(error)}`);
      }
      const identity = await this.#lisp.runAt(place, stopIdentity, []).catch(() => undefined);
      return { report: { ...reportOf(message), ...identity } };
    }
  }
}

function tooManyStops(): SwankError {
  return new SwankError(
    "LIMIT_EXCEEDED",
    `The image announced more than ${MOST_STOPS} stops, or a stop more than ${MOST_LEVELS} levels deep.`,
  );
}
