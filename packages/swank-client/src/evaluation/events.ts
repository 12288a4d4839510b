import type { TaskEventOf } from "./evaluate.js";

/** What the readers of a task's events need to know about it. */
export interface EventSource {
  readonly isSettled: boolean;
  /** True if its thread is stopped, and nothing resumes it now. */
  readonly staysStopped: boolean;
  /** Resolves when the task has reported something, or these properties may have changed. */
  change(): Promise<void>;
}

/** The events of a task, for one reader, which takes them one by one. Unread events are kept. */
export class EventFeed<Stop extends { readonly isLive: boolean }>
  implements AsyncIterableIterator<TaskEventOf<Stop>, undefined>
{
  readonly #source: EventSource;
  readonly #onEnd: (feed: EventFeed<Stop>) => void;
  readonly #unread: TaskEventOf<Stop>[];
  #isOver = false;

  /**
   * @param past - Events before the reader came.
   * @param onEnd - Called when there are no more events, or the reader has left.
   */
  constructor(source: EventSource, past: readonly TaskEventOf<Stop>[], onEnd: (feed: EventFeed<Stop>) => void) {
    this.#source = source;
    this.#unread = [...past];
    this.#onEnd = onEnd;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<TaskEventOf<Stop>, undefined>> {
    while (!this.#isOver) {
      const value = this.#unread.shift();
      // A stop that another reader has resumed cannot be handled any more.
      if (value !== undefined && (value.type !== "stopped" || value.stop.isLive)) return { done: false, value };
      if (value !== undefined) continue;
      if (this.#source.isSettled || this.#source.staysStopped) this.#end();
      else await this.#source.change();
    }
    return { done: true, value: undefined };
  }

  /** The reader has left its loop. */
  async return(): Promise<IteratorResult<TaskEventOf<Stop>, undefined>> {
    this.#end();
    return { done: true, value: undefined };
  }

  add(event: TaskEventOf<Stop>): void {
    this.#unread.push(event);
  }

  #end(): void {
    this.#isOver = true;
    this.#unread.length = 0;
    this.#onEnd(this);
  }
}
