// Lines of standard input for several readers, of which the latest gets the next line: the debugger, while the program waits for its input.
import { createInterface } from "node:readline";

/** @typedef {(line: string | undefined) => void} Reader */

export class LineReader {
  #terminal = createInterface({
    input: process.stdin,
    output: process.stdout,
    terminal: process.stdin.isTTY === true,
  });
  /** Lines that have not been read yet. @type {string[]} */
  #lines = [];
  /** @type {Reader[]} */
  #readers = [];
  #isAtEnd = false;

  /** @param {() => void} onInterrupt called at Ctrl-C */
  constructor(onInterrupt) {
    this.#terminal.on("line", (line) => this.#receive(line));
    this.#terminal.on("SIGINT", onInterrupt);
    this.#terminal.on("close", () => {
      this.#isAtEnd = true;
      for (const reader of this.#readers.splice(0)) reader(undefined);
    });
  }

  /** Whether standard input has ended. Lines may be left. */
  get isAtEnd() {
    return this.#isAtEnd;
  }

  /**
   * The next line; `undefined` at the end of input, after `forget`, and when the signal is aborted.
   *
   * @param {string} prompt shown in a terminal
   * @param {AbortSignal} [signal]
   * @returns {Promise<string | undefined>}
   */
  async read(prompt, signal) {
    if (this.#lines.length > 0 || this.#isAtEnd) return this.#lines.shift();
    return new Promise((resolve) => {
      this.#readers.push(resolve);
      signal?.addEventListener("abort", () => this.#cancel(resolve), { once: true });
      this.#terminal.setPrompt(prompt);
      if (this.#terminal.terminal) this.#terminal.prompt();
    });
  }

  /** Ends the latest `read` without a line. */
  forget() {
    this.#terminal.write(null, { ctrl: true, name: "u" });
    this.#readers.pop()?.(undefined);
  }

  close() {
    this.#terminal.close();
  }

  /** @param {string} line */
  #receive(line) {
    const reader = this.#readers.pop();
    if (reader === undefined) this.#lines.push(line);
    else reader(line);
  }

  /** @param {Reader} reader */
  #cancel(reader) {
    this.#readers = this.#readers.filter((other) => other !== reader);
    reader(undefined);
  }
}
