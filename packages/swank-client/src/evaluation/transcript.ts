import { DecodeError, decode, type Sexp } from "sexp-parser";
import type { OmittedOutput, OutputStream } from "../calls/omitted-output.js";
import { NO_REDEFINITIONS, type Redefinitions } from "../calls/redefinition.js";
import type { SignalledConditions } from "../calls/signalled-condition.js";
import type { SessionUpdate } from "../calls/stop-data.js";
import type { LispWarning, WarningCount } from "../calls/warning.js";
import type { Transcript } from "./outcome.js";

/** Characters of each stream that are kept of the beginning, and of the end, between two outcomes. */
const HEAD_LIMIT = 2_000_000;
const TAIL_LIMIT = 10_000;

/** Warnings kept between two outcomes. */
const WARNINGS_LIMIT = 1000;

const NOTHING: readonly OmittedOutput[] = [];

/**
 * Output of a stream that arrives in pieces. Only its beginning and its end are kept.
 *
 * Sizes are UTF-16 code units.
 */
class BoundedText {
  readonly #stream: OutputStream;
  readonly #headLimit: number;
  #head = "";
  #tail = "";
  /** In order, with positions in the kept text. */
  #omitted = NOTHING;

  constructor(stream: OutputStream, headLimit: number) {
    this.#stream = stream;
    this.#headLimit = headLimit;
  }

  append(text: string): void {
    if (this.#omitted.length > 0 || this.#tail !== "") {
      this.#appendTail(text);
      return;
    }
    const room = Math.max(0, this.#headLimit - this.#head.length);
    const end = text.length <= room ? text.length : characterStart(text, room);
    this.#head += text.slice(0, end);
    if (end < text.length) this.#appendTail(text.slice(end));
  }

  /** Notes that `count` characters are missing at this point. */
  skip(count: number): void {
    const at = this.#head.length + this.#tail.length;
    this.#omitted = [...this.#omitted, { stream: this.#stream, at, count }];
  }

  /** Returns and clears what is kept. */
  take(): { readonly text: string; readonly omitted: readonly OmittedOutput[] } {
    const taken = { text: this.#head + this.#tail, omitted: this.#omitted };
    this.#head = "";
    this.#tail = "";
    this.#omitted = NOTHING;
    return taken;
  }

  #appendTail(text: string): void {
    const joined = this.#tail + text;
    const excess = joined.length - TAIL_LIMIT;
    if (excess <= 0) {
      this.#tail = joined;
      return;
    }
    const start = characterStart(joined, excess);
    this.#omit(start, characterCount(joined.slice(0, start)));
    this.#tail = joined.slice(start);
  }

  /** Notes that the first `units` of the tail, which are `count` characters, are missing too. */
  #omit(units: number, count: number): void {
    const at = this.#head.length;
    const end = at + units;
    const within = this.#omitted.filter((part) => part.at <= end);
    const after = this.#omitted.filter((part) => part.at > end).map((part) => ({ ...part, at: part.at - units }));
    const sum = within.reduce((total, part) => total + part.count, count);
    this.#omitted = [{ stream: this.#stream, at, count: sum }, ...after];
  }
}

/** The position, or the next one if that is inside a surrogate pair. */
function characterStart(text: string, position: number): number {
  return isLowSurrogate(text, position) ? position + 1 : position;
}

function characterCount(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length; index += 1) if (isLowSurrogate(text, index)) count -= 1;
  return count;
}

function isLowSurrogate(text: string, position: number): boolean {
  const code = text.charCodeAt(position);
  return code >= 0xdc00 && code <= 0xdfff;
}

/** The session state that a client's evaluations share, as last reported by the image. */
export interface SessionState {
  package: string;
}

/** Collects output and warnings of an evaluation until an outcome takes them. */
export class TranscriptRecorder {
  readonly #text: Readonly<Record<OutputStream, BoundedText>>;
  #warnings: readonly LispWarning[] = [];
  #warningsInFiles: readonly WarningCount[] = [];
  #warningsOmitted = 0;
  #redefinitions: Redefinitions = NO_REDEFINITIONS;
  #conditions: SignalledConditions | undefined;
  readonly #session: SessionState;

  /** @param outputLimit - Characters of each stream that the image sends. They are all kept, unless there is no limit. */
  constructor(session: SessionState, outputLimit = 0) {
    this.#session = session;
    const limit = Number.isFinite(outputLimit) ? Math.max(HEAD_LIMIT, outputLimit) : HEAD_LIMIT;
    this.#text = { stdout: new BoundedText("stdout", limit), stderr: new BoundedText("stderr", limit) };
  }

  write(stream: OutputStream, text: string, omittedBefore = 0): void {
    if (omittedBefore > 0) this.#text[stream].skip(omittedBefore);
    this.#text[stream].append(text);
  }

  /** Adds the session's changes since the last report. */
  report({ warnings, warningsInFiles, warningsOmitted, redefinitions, ...rest }: SessionUpdate): void {
    const kept = warnings.slice(0, Math.max(0, WARNINGS_LIMIT - this.#warnings.length));
    this.#warnings = joined(this.#warnings, kept);
    this.#warningsInFiles = joined(this.#warningsInFiles, warningsInFiles);
    this.#warningsOmitted += warningsOmitted + warnings.length - kept.length;
    this.#redefinitions = addRedefinitions(this.#redefinitions, redefinitions);
    this.#conditions = addConditions(this.#conditions, rest.conditions);
    if (rest.package !== undefined) this.#session.package = rest.package;
  }

  /**
   * Returns and clears everything collected since the last call.
   *
   * @param milliseconds - Time of the evaluation.
   */
  take(milliseconds: number | undefined): Transcript {
    const conditions = this.#conditions;
    const stdout = this.#text.stdout.take();
    const stderr = this.#text.stderr.take();
    const taken = {
      stdout: stdout.text,
      stderr: stderr.text,
      outputOmitted: [...stdout.omitted, ...stderr.omitted],
      warnings: this.#warnings,
      warningsInFiles: this.#warningsInFiles,
      warningsOmitted: this.#warningsOmitted,
      redefinitions: this.#redefinitions,
      package: this.#session.package,
      milliseconds,
    };
    this.#warnings = [];
    this.#warningsInFiles = [];
    this.#warningsOmitted = 0;
    this.#redefinitions = NO_REDEFINITIONS;
    this.#conditions = undefined;
    return conditions === undefined ? taken : { ...taken, conditions };
  }
}

/** The items of both lists. Most lists here are empty. */
function joined<Item>(before: readonly Item[], after: readonly Item[]): readonly Item[] {
  if (after.length === 0) return before;
  return before.length === 0 ? after : [...before, ...after];
}

/** Redefinitions of one evaluation after others of it. */
function addRedefinitions(before: Redefinitions, after: Redefinitions): Redefinitions {
  if (before === NO_REDEFINITIONS) return after;
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

/** The evaluation and stream of some text, and the number of characters omitted before it. */
export interface OutputTarget {
  readonly id: number;
  /** `exit`: no text; the image is exiting. `progress`: the text says what the evaluation is doing. `read`: a thread waits for input.
   * `wait`: it begins to wait for the user's answer if there is text, and otherwise goes on. */
  readonly stream: OutputStream | "exit" | "progress" | "read" | "wait";
  readonly omittedBefore: number;
  /** The thread that waits for input, and the tag of the answer. */
  readonly waiting?: { readonly thread: number; readonly tag: number } | undefined;
}

/** Streams by number, as in lisp/evaluate/evaluate.lisp and output.lisp. */
const STREAMS = ["exit", "stdout", "stderr", "progress", "read", "wait"] as const;

const { integer, optional, tuple } = decode;

const target = tuple(integer, integer, optional(integer), optional(integer), optional(integer));

/** Decodes a target of the runtime, `(ID STREAM-NUMBER [OMITTED [THREAD TAG]])` (lisp/evaluate/output.lisp, prompted-input.lisp, activity/questions.lisp); `undefined` for any other. */
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
