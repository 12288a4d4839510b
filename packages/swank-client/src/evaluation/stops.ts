import { type Decoded, decode, quote, type Sexp, symbol } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { Latch, LimitedTasks } from "../base/waiting.js";
import type { Caller } from "../runtime/caller.js";
import { decodedIfKnown, type Place, type SendOptions } from "../runtime/function.js";
import type { LispRunner } from "../runtime/runner.js";
import type { DebugMessage, DebugReturnMessage, Reply, WriteStringMessage } from "../wire/messages.js";
import { describeStop, reportOf, type SessionUpdate, type StopReport, stopIdentity } from "./report.js";
import { Stop, type StopChannel, type Task } from "./stop.js";

const { from, integer, map, optional, plist, string, tagged, tuple } = decode;

/** One for all stops, because making an error takes long. */
const LEFT = new Error("The thread left the stop, or the connection closed.");

/** A latch for the end of a stop. */
export function leftLatch(): Latch {
  return new Latch(LEFT);
}

/** A thread at one level of the debugger, from its `:debug` message to its `:debug-return` message. */
class DebuggerLevel {
  readonly message: DebugMessage;
  /** Opens when the thread leaves that level, or the connection closes. */
  readonly left = leftLatch();

  constructor(message: DebugMessage) {
    this.message = message;
  }

  get thread(): number {
    return this.message.thread;
  }

  get level(): number {
    return this.message.level;
  }

  leave(): void {
    this.left.open();
  }
}

/** The levels of all threads that are now in the debugger, by thread. */
class DebuggerLevels {
  readonly #levels = new Map<number, DebuggerLevel[]>();
  #size = 0;

  /** Number of levels in the debugger, of all threads together. */
  get size(): number {
    return this.#size;
  }

  /**
   * Records a `:debug` message.
   *
   * @returns The level if it is new; `undefined` if it is known: Swank repeats the message after a deeper level was left.
   */
  enter(message: DebugMessage): DebuggerLevel | undefined {
    const levels = this.#levels.get(message.thread) ?? [];
    this.#end(levels.splice(Math.max(0, message.level)));
    if (levels.some(({ level }) => level === message.level)) return undefined;
    const entered = new DebuggerLevel(message);
    levels.push(entered);
    this.#size += 1;
    this.#levels.set(message.thread, levels);
    return entered;
  }

  /** Records a `:debug-return` message: the thread has left that level and the deeper ones. */
  leave(thread: number, level: number): void {
    const levels = this.#levels.get(thread) ?? [];
    const kept = levels.filter((entry) => entry.level < level);
    this.#end(levels.filter((entry) => entry.level >= level));
    if (kept.length === 0) this.#levels.delete(thread);
    else this.#levels.set(thread, kept);
  }

  clear(): void {
    for (const levels of this.#levels.values()) for (const entry of levels) entry.leave();
    this.#levels.clear();
    this.#size = 0;
  }

  #end(levels: readonly DebuggerLevel[]): void {
    for (const entry of levels) entry.leave();
    this.#size -= levels.length;
  }
}

/** Milliseconds that a stopped thread has to answer a question about itself. */
const ANSWER_TIME = 30_000;

/** Milliseconds between the reply of a request that unwinds the thread and the message that the thread has left the stop. */
const LEAVING_TIME = 5000;

/** Restricts a form to one stop: the Lisp operator that evaluates it only there, and the image's number for the stop. */
interface AtStop {
  readonly operator: string;
  readonly number: number;
}

/** The channel to a stop in this client's debugger. Swank announces such a stop and its end. */
class OwnChannel implements StopChannel {
  readonly #level: DebuggerLevel;
  readonly #caller: Caller;
  readonly #atStop: AtStop | (() => Promise<AtStop | undefined>);
  /** Requests under way that make the thread leave if they succeed. */
  #leaving = 0;

  /** @param atStop - If it is not known yet, a function that finds it: `undefined` in an image without the runtime. */
  constructor(level: DebuggerLevel, caller: Caller, atStop: AtStop | (() => Promise<AtStop | undefined>)) {
    this.#level = level;
    this.#caller = caller;
    this.#atStop = atStop;
  }

  get left(): Latch {
    return this.#level.left;
  }

  get isLeaving(): boolean {
    return this.#leaving > 0;
  }

  async send(form: Sexp, options: SendOptions): Promise<Reply> {
    if (!options.mayLeave) return this.#ask(form, options);
    this.#leaving += 1;
    try {
      return await this.#ask(form, options);
    } finally {
      this.#leaving -= 1;
    }
  }

  async #ask(form: Sexp, { label, mayLeave, timeout = ANSWER_TIME }: SendOptions): Promise<Reply> {
    const { thread } = this.#level;
    try {
      const options = { label, thread, timeout, until: this.left };
      const known = this.#atStop;
      const atStop = typeof known === "function" ? await known() : known;
      const reply = await this.#caller.reply(guarded(form, atStop), options);
      if (reply.status === "abort" && mayLeave) await this.#departure(label);
      return reply;
    } catch (error) {
      // After a lost connection the evaluations report its end. Otherwise another request made the thread leave.
      if (mayLeave && this.left.isOpen && !this.#caller.isOpen) return { status: "abort", condition: "NIL" };
      throw error;
    }
  }

  async #departure(label: string): Promise<void> {
    await this.left.within(LEAVING_TIME);
    if (!this.left.isOpen) throw new SwankError("REQUEST_ABORTED", `${label}: It was aborted; the stop is unchanged.`);
  }
}

/** Guards against evaluating the form at a later stop: the thread may leave this one before it serves the request. */
function guarded(form: Sexp, atStop: AtStop | undefined): Sexp {
  return atStop === undefined ? form : [symbol(atStop.operator), atStop.number, quote(form)];
}

/**
 * Called for every new stop after its thread was asked for a report. `left` opens when the thread leaves it; `update` is `undefined` if the
 * thread did not answer.
 */
type StopListener = (stop: Stop, left: Latch, update: SessionUpdate | undefined) => void;

/** Finds the evaluation that one of these requests belongs to. */
type FindEvaluation = (requests: readonly number[]) => Task | undefined;

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

const ended = plist({
  /** Swank's id of the thread. */
  thread: integer,
  threadName: from("name", string),
  /** The condition's type and message. */
  type: string,
  message: string,
  /** The lock that the thread held, because of which it could not stop, e.g. `the lock on packages`; absent if it held none. */
  held: optional(map(string, (lock) => lock || undefined)),
});

/** A thread started by this client's code that an error ended. */
export interface EndedThread extends Decoded<typeof ended> {}

/** `(:ended PLIST)`, the target of a message of lisp/evaluate/own-threads.lisp. */
const endedThread = tagged({ ended: map(tuple(ended), ([thread]): EndedThread => thread) });

/** Reads the ended thread from a message; `undefined` for a message about something else. */
export function readEndedThread({ target }: WriteStringMessage): EndedThread | undefined {
  return decodedIfKnown(endedThread, target);
}
