/** Most questions that can wait while another is asked. */
const MAX_WAITING = 8;

/** A place in the queue of questions. */
export interface QuestionTurn {
  /** True when no other question is being asked. */
  readonly isFirst: boolean;
  /** Resolves when all turns before this one have ended. */
  readonly ready: Promise<void>;
  /** Call it when the question was answered or dropped. */
  end(): void;
}

/** Queues questions so that the user is asked one at a time, in the order in which they came. */
export class QuestionTurns {
  #last: Promise<void> = Promise.resolve();
  #count = 0;

  /** @returns `undefined` when too many questions wait. */
  next(): QuestionTurn | undefined {
    if (this.#count > MAX_WAITING) return undefined;
    const isFirst = this.#count === 0;
    const ready = this.#last;
    this.#count += 1;
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#last = ready.then(() => ended);
    return {
      isFirst,
      ready,
      end: () => {
        this.#count -= 1;
        end();
      },
    };
  }
}
