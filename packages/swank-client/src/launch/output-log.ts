import type { Readable } from "node:stream";
import { callListener } from "../call-listener.js";

/** Characters kept of what an image printed. */
const TAIL_LENGTH = 16_384;

/** A line longer than this is passed on in parts. */
const LONGEST_LINE = 8192;

/** What a Lisp prints on its own streams: always read, so that it never waits, and only the end of it kept. */
export class OutputLog {
  readonly #onLine: ((line: string) => void) | undefined;
  #tail = "";

  constructor(onLine: ((line: string) => void) | undefined) {
    this.#onLine = onLine;
  }

  /** The last of it, from all streams in the order it came. */
  get tail(): string {
    return this.#tail;
  }

  /** Adds something that no stream gave. */
  add(text: string): void {
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
    // A pipe that breaks has nothing more to tell; the process's end is told by other means.
    stream.on("error", () => undefined);
  }

  /** @returns what is left of a line that has not ended. */
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
