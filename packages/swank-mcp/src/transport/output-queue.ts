import type { Writable } from "node:stream";

/** Bytes handed to the stream at a time: small enough to see whether the reader takes anything. */
const PIECE = 64 * 1024;
/** How often a wait looks whether its time is up, in milliseconds. */
const TICK = 100;

/** Text on its way to a stream, which knows how much of it the reader has not taken. Writes after a failure are dropped. */
export class OutputQueue {
  readonly #stream: Writable;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;
  #taken = 0;
  /** Ends the current wait of `drain`. */
  #wake: () => void = () => {};
  /** Ends the wait for the current piece. */
  #fail: (error: Error) => void = () => {};

  constructor(stream: Writable) {
    this.#stream = stream;
    // A stream that is destroyed may forget the write that is under way.
    stream.once("close", () => this.#fail(new Error("the output was closed")));
  }

  /** Bytes that the reader has not taken. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Bytes that the reader has taken so far. */
  get taken(): number {
    return this.#taken;
  }

  /** Resolves when the text was handed to the system. @throws what the stream failed with */
  write(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    this.#waiting += bytes.length;
    const written = this.#last.then(() => this.#writePieces(bytes));
    this.#last = written.catch(() => undefined);
    return written;
  }

  /**
   * Waits until everything was taken, or the reader has taken nothing for some time.
   *
   * @param patience - Gives that time in milliseconds; asked again and again, so that it may change.
   * @returns whether everything was taken.
   */
  async drain(patience: () => number): Promise<boolean> {
    let quietSince = performance.now();
    while (this.#waiting > 0 && performance.now() - quietSince < patience()) {
      const before = this.#taken;
      await this.#progress();
      if (this.#taken > before) quietSince = performance.now();
    }
    return this.#waiting === 0;
  }

  async #writePieces(bytes: Buffer): Promise<void> {
    let left = bytes.length;
    try {
      for (let start = 0; start < bytes.length; start += PIECE) {
        const piece = bytes.subarray(start, start + PIECE);
        await this.#writePiece(piece);
        left -= piece.length;
        this.#took(piece.length);
      }
    } catch (error) {
      this.#took(left);
      throw error;
    }
  }

  #writePiece(piece: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#fail = reject;
      this.#stream.write(piece, (error) => (error ? reject(error) : resolve()));
    });
  }

  #took(size: number): void {
    this.#waiting -= size;
    this.#taken += size;
    this.#wake();
  }

  /** Resolves when something was taken, or after a short while. */
  #progress(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, TICK);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
