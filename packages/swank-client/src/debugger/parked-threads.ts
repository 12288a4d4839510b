import { setTimeout } from "node:timers/promises";
import { quote, type Sexp, symbol } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import type { Caller } from "../lisp/caller.js";
import type { SendOptions } from "../lisp/place.js";
import type { DebugMessage, Reply } from "../protocol/wire/messages.js";
import type { StopChannel } from "./stop-channel.js";

/** A thread at one level of the debugger, from its `:debug` message to its `:debug-return` message. */
export class ParkedThread {
  readonly message: DebugMessage;
  readonly #left = new AbortController();

  constructor(message: DebugMessage) {
    this.message = message;
  }

  get thread(): number {
    return this.message.thread;
  }

  get level(): number {
    return this.message.level;
  }

  /** Aborted when the thread leaves that level, or the connection closes. */
  get left(): AbortSignal {
    return this.#left.signal;
  }

  leave(): void {
    this.#left.abort();
  }
}

/** The threads that are now in the debugger, by id and level. */
export class ParkedThreads {
  readonly #levels = new Map<number, ParkedThread[]>();
  #size = 0;

  /** Number of levels in the debugger, of all threads together. */
  get size(): number {
    return this.#size;
  }

  /**
   * Records a `:debug` message.
   *
   * @returns The parked thread if it is new; `undefined` if it is known: Swank repeats the message after a deeper level was left.
   */
  enter(message: DebugMessage): ParkedThread | undefined {
    const levels = this.#levels.get(message.thread) ?? [];
    this.#end(levels.splice(Math.max(0, message.level)));
    if (levels.some(({ level }) => level === message.level)) return undefined;
    const parked = new ParkedThread(message);
    levels.push(parked);
    this.#size += 1;
    this.#levels.set(message.thread, levels);
    return parked;
  }

  /** Records a `:debug-return` message: the thread has left that level and the deeper ones. */
  leave(thread: number, level: number): void {
    const levels = this.#levels.get(thread) ?? [];
    const kept = levels.filter((parked) => parked.level < level);
    this.#end(levels.filter((parked) => parked.level >= level));
    if (kept.length === 0) this.#levels.delete(thread);
    else this.#levels.set(thread, kept);
  }

  clear(): void {
    for (const levels of this.#levels.values()) for (const parked of levels) parked.leave();
    this.#levels.clear();
    this.#size = 0;
  }

  #end(levels: readonly ParkedThread[]): void {
    for (const parked of levels) parked.leave();
    this.#size -= levels.length;
  }
}

/** Milliseconds that a stopped thread has to answer a question about itself. */
const ANSWER_TIME = 30_000;
/** Milliseconds between the reply of a request that unwinds the thread and the message that the thread has left the stop. */
const LEAVING_TIME = 5000;

/** Restricts a form to one stop: the Lisp operator that evaluates it only there, and the image's number for the stop. */
export interface AtStop {
  readonly operator: string;
  readonly number: number;
}

/** The channel to a stop in this client's debugger. Swank announces such a stop and its end. */
export class ParkedChannel implements StopChannel {
  readonly #parked: ParkedThread;
  readonly #caller: Caller;
  readonly #atStop: AtStop | undefined;

  /** @param atStop - `undefined` in an image without the runtime. */
  constructor(parked: ParkedThread, caller: Caller, atStop: AtStop | undefined) {
    this.#parked = parked;
    this.#caller = caller;
    this.#atStop = atStop;
  }

  get ended(): AbortSignal {
    return this.#parked.left;
  }

  async send(form: Sexp, { label, mayLeave, timeout = ANSWER_TIME }: SendOptions): Promise<Reply> {
    const { thread } = this.#parked;
    try {
      const options = { label, thread, timeout, signal: this.ended };
      const reply = await this.#caller.reply(this.#guarded(form), options);
      if (reply.status === "abort" && mayLeave) await this.#departure(label);
      return reply;
    } catch (error) {
      // After a lost connection the evaluations report its end. Otherwise another request made the thread leave.
      if (mayLeave && this.ended.aborted && !this.#caller.isOpen) return { status: "abort", condition: "NIL" };
      throw error;
    }
  }

  /** Guards against evaluating the form at a later stop: the thread may leave this one before it serves the request. */
  #guarded(form: Sexp): Sexp {
    if (this.#atStop === undefined) return form;
    return [symbol(this.#atStop.operator), this.#atStop.number, quote(form)];
  }

  async #departure(label: string): Promise<void> {
    await setTimeout(LEAVING_TIME, undefined, { signal: this.ended }).catch(() => undefined);
    if (!this.ended.aborted)
      throw new SwankError("REQUEST_ABORTED", `${label}: It was aborted; the thread is stopped as it was.`);
  }
}
