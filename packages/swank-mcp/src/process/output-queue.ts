import type { Writable } from "node:stream";

/** Bytes written to the stream at a time: small enough to show whether the reader takes anything. */
const PIECE = 64 * 1024;
/** How often `drain` checks whether its time is up, in milliseconds. */
const TICK = 100;

/** Writes text to a stream and counts the bytes that the reader has not taken. Writes after a failure are dropped. */
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
    // A destroyed stream may never call back for the current write.
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

  /**
   * Resolves when the system has taken the text.
   *
   * @throws the stream's error.
   */
  write(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    const isFirst = this.#waiting === 0;
    this.#waiting += bytes.length;
    const next = () => this.#writePieces(bytes);
    this.#last = isFirst ? next() : this.#last.then(next, next);
    return this.#last;
  }

  /**
   * Waits until the reader has taken everything, or has taken nothing for some time.
   *
   * @param patience - Returns that time in milliseconds. It is called repeatedly, so the time may change.
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

  /** Resolves when the reader has taken something, or after `TICK`. */
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
