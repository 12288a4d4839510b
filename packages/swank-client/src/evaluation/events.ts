import type { StopOfTask, TaskEventOf } from "./evaluate.js";

/** A task, as the readers of its events see it. */
export interface EventSource<Stop> {
  readonly isSettled: boolean;
  /** True if it reached a limit and could not be ended: nothing waits for it any more. */
  readonly isGivenUp: boolean;
  /** Its current stop, if its thread is stopped. */
  readonly stop: Stop | undefined;
  /** True if its thread is stopped, and nothing resumes it now. */
  readonly staysStopped: boolean;
  /** Resolves when the task has reported something, or these properties may have changed. */
  change(): Promise<void>;
}

/** A queue frees the places of taken items when there are at least this many. */
const COMPACTED = 1024;

/** A queue whose operations take constant time on average: `shift` of a long array moves all its items. */
class Queue<Item> {
  #items: (Item | undefined)[] = [];
  #first = 0;

  add(item: Item): void {
    this.#items.push(item);
  }

  /** Removes the oldest item; `undefined` if there is none. */
  take(): Item | undefined {
    const item = this.#items[this.#first];
    if (item === undefined) return undefined;
    this.#items[this.#first] = undefined;
    this.#first += 1;
    if (this.#first >= COMPACTED && this.#first * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }

  clear(): void {
    this.#items = [];
    this.#first = 0;
  }
}

/** The events of a task, for one reader, which takes them one by one. Unread events are kept. */
export class EventFeed<Stop extends StopOfTask> implements AsyncIterableIterator<TaskEventOf<Stop>, undefined> {
  readonly #source: EventSource<Stop>;
  readonly #onEnd: (feed: EventFeed<Stop>) => void;
  readonly #unread = new Queue<TaskEventOf<Stop>>();
  /** The stops that the reader has received. */
  readonly #given = new WeakSet<Stop>();
  #isOver = false;

  /**
   * @param past - Events before the reader came.
   * @param onEnd - Called when there are no more events, or the reader has left. It wakes all callers of `change`.
   */
  constructor(source: EventSource<Stop>, past: readonly TaskEventOf<Stop>[], onEnd: (feed: EventFeed<Stop>) => void) {
    this.#source = source;
    for (const event of past) this.#unread.add(event);
    this.#onEnd = onEnd;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<TaskEventOf<Stop>, undefined>> {
    while (!this.#isOver) {
      const value = this.#unreadEvent() ?? this.#currentStop();
      if (value !== undefined) return { done: false, value };
      if (this.#source.isSettled || this.#source.isGivenUp || this.#source.staysStopped) this.#end();
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
    this.#unread.add(event);
  }

  #unreadEvent(): TaskEventOf<Stop> | undefined {
    for (;;) {
      const event = this.#unread.take();
      if (event?.type !== "stopped") return event;
      // A stop that is being resumed cannot be handled. `#currentStop` returns it if the request to resume fails.
      if (!event.stop.isLive || event.stop.isLeaving || this.#given.has(event.stop)) continue;
      this.#given.add(event.stop);
      return event;
    }
  }

  /** The stop in which the thread stays, if the reader has not received it. */
  #currentStop(): TaskEventOf<Stop> | undefined {
    const { stop, staysStopped } = this.#source;
    if (stop === undefined || !staysStopped || this.#given.has(stop)) return undefined;
    this.#given.add(stop);
    return { type: "stopped", stop };
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#unread.clear();
    this.#onEnd(this);
  }
}
