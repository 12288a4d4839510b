import type { OutputChunk } from "../calls/omitted-output.js";

/** Output of an evaluation up to its next outcome, for one reader, who takes it piece by piece. What was not read yet is kept. */
export class OutputFeed implements AsyncIterableIterator<OutputChunk, undefined> {
  readonly #onEnd: (feed: OutputFeed) => void;
  readonly #unread: OutputChunk[];
  readonly #waiting: (() => void)[] = [];
  #isOver = false;

  /**
   * @param arrived - What has arrived before.
   * @param onEnd - Called when the reader has left.
   */
  constructor(arrived: readonly OutputChunk[], onEnd: (feed: OutputFeed) => void) {
    this.#unread = [...arrived];
    this.#onEnd = onEnd;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<OutputChunk, undefined>> {
    while (this.#unread.length === 0 && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
    const value = this.#unread.shift();
    return value === undefined ? { done: true, value } : { done: false, value };
  }

  /** The reader has left its loop. */
  async return(): Promise<IteratorResult<OutputChunk, undefined>> {
    this.#unread.length = 0;
    this.end();
    this.#onEnd(this);
    return { done: true, value: undefined };
  }

  add(chunk: OutputChunk): void {
    if (this.#isOver) return;
    this.#unread.push(chunk);
    this.#wake();
  }

  /** There will be no more. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  #wake(): void {
    for (const proceed of this.#waiting.splice(0)) proceed();
  }
}
