import type { DebugMessage } from "../wire/messages.js";
import { ParkedThread } from "./parked-thread.js";

/** The threads that are in the debugger now, by id and level. */
export class ParkedThreads {
  readonly #levels = new Map<number, ParkedThread[]>();
  #size = 0;

  /** Threads and levels that are in the debugger. */
  get size(): number {
    return this.#size;
  }

  /**
   * Takes a `:debug` message in.
   *
   * @returns The parked thread if it is news; `undefined` when Swank repeats what is known, as it does when a deeper level was left.
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

  /** Takes a `:debug-return` message in: that level and the deeper ones are gone. */
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
