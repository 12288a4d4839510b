import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { appendOwn } from "./append-own.js";

const NEWLINE = 0x0a;
/** Does not block if the file is a pipe. */
const READING = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** A line of the ledger, as JSON. */
export type LedgerLine = Readonly<Record<string, unknown>>;

/**
 * Appends lines of JSON to a file of this user, each at once, with one write, so that several processes can share the file. Never throws: the
 * first failure is reported, and the first line after a failure is `{"event": "gap", "left_out": N}`.
 */
export class LedgerFile {
  readonly #path: string;
  readonly #report: (problem: string) => void;
  #isReported = false;
  #leftOut = 0;
  /** Whether the last line of the file may have no end: this process or an earlier one could write only a part. */
  #mayBeTorn = true;

  /** @param report - Called with the first failure, a sentence. */
  constructor(path: string, report: (problem: string) => void) {
    this.#path = path;
    this.#report = report;
    this.#write("");
  }

  append(line: LedgerLine): void {
    if (this.#leftOut > 0 && this.#write(textOf(gap(this.#leftOut)))) this.#leftOut = 0;
    if (this.#leftOut > 0 || !this.#write(textOf(line))) this.#leftOut += 1;
  }

  #write(text: string): boolean {
    try {
      appendOwn(this.#path, this.#mayBeTorn && isTorn(this.#path) ? `\n${text}` : text, "--ledger");
      this.#mayBeTorn = text === "";
      return true;
    } catch (error) {
      this.#mayBeTorn = true;
      if (!this.#isReported) this.#report(error instanceof Error ? error.message : String(error));
      this.#isReported = true;
      return false;
    }
  }
}

/**
 * How often a file is looked at whose last line has no end, and the longest pause between two looks, in milliseconds. Pauses have random lengths, so that
 * only one of several processes ends a line that nobody is writing.
 */
const LOOKS = 10;
const BETWEEN_LOOKS = 30;
const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** Whether the file's last line has no end, and gets none: another process that is writing it shows only a part for a moment. */
function isTorn(path: string): boolean {
  for (let look = 1; endsInside(path); look += 1) {
    if (look === LOOKS) return true;
    Atomics.wait(never, 0, 0, Math.random() * BETWEEN_LOOKS);
  }
  return false;
}

/** Whether the file's last line has no end. */
function endsInside(path: string): boolean {
  try {
    const file = openSync(path, READING);
    try {
      const last = Buffer.alloc(1, NEWLINE);
      const { size } = fstatSync(file);
      if (size > 0) readSync(file, last, 0, 1, size - 1);
      return last[0] !== NEWLINE;
    } finally {
      closeSync(file);
    }
  } catch {
    // Appending reports what is wrong.
    return false;
  }
}

function gap(leftOut: number): LedgerLine {
  return { time: new Date().toISOString(), event: "gap", server: process.pid, left_out: leftOut };
}

function textOf(line: LedgerLine): string {
  return `${JSON.stringify(line)}\n`;
}
