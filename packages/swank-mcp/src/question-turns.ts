/** Questions that wait while another one is asked. */
const MAX_WAITING = 8;

/** A place in the queue. */
export interface QuestionTurn {
  /** True when nothing is asked now. */
  readonly isFirst: boolean;
  /** Resolves when all turns before this one have ended. */
  readonly ready: Promise<void>;
  /** The question was answered, or is not asked any more. */
  end(): void;
}

/** Has a person asked one question at a time, in the order in which they came. */
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
