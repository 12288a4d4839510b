import { Latch } from "../evaluation/outcome-slot.js";
import type { DebugMessage } from "../protocol/wire/messages.js";

/** One for all stops, because making an error takes long. */
const LEFT = new Error("The thread left the stop, or the connection closed.");

/** A latch for the end of a stop. */
export function leftLatch(): Latch {
  return new Latch(LEFT);
}

/** A thread at one level of the debugger, from its `:debug` message to its `:debug-return` message. */
export class DebuggerLevel {
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
export class DebuggerLevels {
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
