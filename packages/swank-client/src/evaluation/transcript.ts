import { DecodeError, decode, type Sexp } from "sexp-parser";
import { NO_REDEFINITIONS, type Redefinitions } from "../calls/redefinition.js";
import type { SignalledConditions } from "../calls/signalled-condition.js";
import type { SessionUpdate } from "../calls/stop-data.js";
import type { LispWarning, WarningCount } from "../calls/warning.js";
import type { Transcript } from "./outcome.js";

/**
 * Text that arrives in pieces. Only its beginning and its end are kept.
 *
 * Sizes are UTF-16 code units.
 */
export class BoundedText {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  #head = "";
  #tail = "";
  #omitted = 0;

  constructor(headLimit: number, tailLimit: number) {
    this.#headLimit = headLimit;
    this.#tailLimit = tailLimit;
  }

  append(text: string): void {
    if (this.#omitted > 0 || this.#tail !== "") {
      this.#appendTail(text);
      return;
    }
    const room = this.#headLimit - this.#head.length;
    this.#head += text.length <= room ? text : text.slice(0, room);
    if (text.length > room) this.#appendTail(text.slice(room));
  }

  /** Notes that `count` characters were left out at this point. */
  skip(count: number): void {
    this.#omitted += count;
  }

  /** Returns the kept text, with a line in place of the omitted part, and clears it. */
  take(): string {
    const text = this.#omitted === 0 ? this.#head + this.#tail : `${this.#head}${this.#marker()}${this.#tail}`;
    this.#head = "";
    this.#tail = "";
    this.#omitted = 0;
    return text;
  }

  #appendTail(text: string): void {
    const joined = this.#tail + text;
    const excess = Math.max(0, joined.length - this.#tailLimit);
    this.#omitted += excess;
    this.#tail = joined.slice(excess);
  }

  #marker(): string {
    return `\n[... ${this.#omitted} characters left out ...]\n`;
  }
}

/** The stream that a piece of output was written to. */
export type OutputStream = "stdout" | "stderr";

/** Characters of each stream that are kept of the beginning, and of the end, between two outcomes. */
const HEAD_LIMIT = 2_000_000;
const TAIL_LIMIT = 10_000;

/** Warnings kept between two outcomes. */
const WARNINGS_LIMIT = 1000;

/** The session state that a client's evaluations share, as last reported by the image. */
export interface SessionState {
  package: string;
}

/** Collects output and warnings of an evaluation until an outcome takes them. */
export class TranscriptRecorder {
  readonly #text: Readonly<Record<OutputStream, BoundedText>>;
  #warnings: LispWarning[] = [];
  #warningsInFiles: readonly WarningCount[] = [];
  #warningsOmitted = 0;
  #redefinitions: Redefinitions = NO_REDEFINITIONS;
  #conditions: SignalledConditions | undefined;
  readonly #session: SessionState;

  /** @param outputLimit - Characters of each stream that the image sends. They are all kept, unless there is no limit. */
  constructor(session: SessionState, outputLimit = 0) {
    this.#session = session;
    const limit = Number.isFinite(outputLimit) ? Math.max(HEAD_LIMIT, outputLimit) : HEAD_LIMIT;
    this.#text = { stdout: new BoundedText(limit, TAIL_LIMIT), stderr: new BoundedText(limit, TAIL_LIMIT) };
  }

  write(stream: OutputStream, text: string, omittedBefore = 0): void {
    if (omittedBefore > 0) this.#text[stream].skip(omittedBefore);
    this.#text[stream].append(text);
  }

  /** Adds the session's changes since the last report. */
  report({ warnings, warningsInFiles, warningsOmitted, redefinitions, ...rest }: SessionUpdate): void {
    const kept = warnings.slice(0, Math.max(0, WARNINGS_LIMIT - this.#warnings.length));
    this.#warnings = [...this.#warnings, ...kept];
    this.#warningsInFiles = [...this.#warningsInFiles, ...warningsInFiles];
    this.#warningsOmitted += warningsOmitted + warnings.length - kept.length;
    this.#redefinitions = addRedefinitions(this.#redefinitions, redefinitions);
    this.#conditions = addConditions(this.#conditions, rest.conditions);
    if (rest.package !== undefined) this.#session.package = rest.package;
  }

  /** Returns and clears everything collected since the last call. */
  take(): Omit<Transcript, "milliseconds"> {
    const warnings = this.#warnings;
    const warningsInFiles = this.#warningsInFiles;
    const warningsOmitted = this.#warningsOmitted;
    const redefinitions = this.#redefinitions;
    const conditions = this.#conditions;
    this.#warnings = [];
    this.#warningsInFiles = [];
    this.#warningsOmitted = 0;
    this.#redefinitions = NO_REDEFINITIONS;
    this.#conditions = undefined;
    return {
      stdout: this.#text.stdout.take(),
      stderr: this.#text.stderr.take(),
      warnings,
      warningsInFiles,
      warningsOmitted,
      redefinitions,
      ...(conditions === undefined ? {} : { conditions }),
      package: this.#session.package,
    };
  }
}

/** Redefinitions of one evaluation after others of it. */
function addRedefinitions(before: Redefinitions, after: Redefinitions): Redefinitions {
  return {
    count: before.count + after.count,
    files: [...before.files, ...after.files],
    stale: [...before.stale, ...after.stale],
  };
}

/** Conditions of one evaluation after others of it. */
function addConditions(
  before: SignalledConditions | undefined,
  after: SignalledConditions | undefined,
): SignalledConditions | undefined {
  if (before === undefined || after === undefined) return before ?? after;
  return {
    entries: [...before.entries, ...after.entries],
    others: before.others + after.others,
    internal: before.internal + after.internal,
  };
}

/** The evaluation and stream of some text, and the number of characters left out before it. */
export interface OutputTarget {
  readonly id: number;
  /** `exit`: no text; the image is exiting. `progress`: the text says what the evaluation is doing. `read`: a thread waits for input. */
  readonly stream: OutputStream | "exit" | "progress" | "read";
  readonly omittedBefore: number;
  /** The thread that waits for input, and the tag of the answer. */
  readonly waiting?: { readonly thread: number; readonly tag: number } | undefined;
}

/** Streams by number, as in lisp/evaluate/evaluate.lisp and output.lisp. */
const STREAMS = ["exit", "stdout", "stderr", "progress", "read"] as const;

const { integer, optional, tuple } = decode;

const target = tuple(integer, integer, optional(integer), optional(integer), optional(integer));

/** Decodes a target of the runtime, `(ID STREAM-NUMBER [OMITTED [THREAD TAG]])` (lisp/evaluate/output.lisp, prompted-input.lisp); `undefined` for any other. */
export function outputTarget(datum: Sexp): OutputTarget | undefined {
  if (!Array.isArray(datum)) return undefined;
  try {
    const [id, number, omittedBefore = 0, thread, tag] = target(datum);
    const stream = STREAMS[number];
    const waiting = thread === undefined || tag === undefined ? undefined : { thread, tag };
    return stream && { id, stream, omittedBefore, waiting };
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}
