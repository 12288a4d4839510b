import type { Readable } from "node:stream";
import { callListener } from "../base/typed-emitter.js";

/** Characters kept of an image's output. */
const TAIL_LENGTH = 16_384;

/** A line longer than this is passed on in parts. */
const LONGEST_LINE = 8192;

/** Reads a Lisp's stdout and stderr, so that it never blocks, and keeps the end of the output. */
export class OutputLog {
  readonly #onLine: ((line: string) => void) | undefined;
  #tail = "";
  #length = 0;

  constructor(onLine: ((line: string) => void) | undefined) {
    this.#onLine = onLine;
  }

  /** The end of the output, from all streams in the order of arrival. */
  get tail(): string {
    return this.#tail;
  }

  /** The number of characters of all output, including those that the tail has lost. */
  get length(): number {
    return this.#length;
  }

  /** Adds text that came from no stream. */
  add(text: string): void {
    this.#length += text.length;
    this.#tail = (this.#tail + text).slice(-TAIL_LENGTH);
  }

  /** Reads a stream to its end. */
  follow(stream: Readable): void {
    let partial = "";
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      this.add(text);
      if (this.#onLine !== undefined) partial = this.#passLines(partial + text);
    });
    stream.on("end", () => {
      if (partial !== "") this.#pass(partial);
    });
    // A broken pipe delivers nothing more. The end of the process is reported elsewhere.
    stream.on("error", () => undefined);
  }

  /** @returns the part of an unfinished line. */
  #passLines(text: string): string {
    const lines = text.split("\n");
    const partial = lines.pop() ?? "";
    for (const line of lines) this.#pass(line);
    if (partial.length <= LONGEST_LINE) return partial;
    this.#pass(partial);
    return "";
  }

  #pass(line: string): void {
    if (this.#onLine !== undefined) callListener(this.#onLine, line, warn);
  }
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error), "onLog");
}
