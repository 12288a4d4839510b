import { DecodeError, decode, type Sexp } from "sexp-parser";
import type { Transcript } from "./evaluate.js";
import {
  type LispWarning,
  NO_REDEFINITIONS,
  type OmittedOutput,
  type OutputChunk,
  type OutputStream,
  type Redefinitions,
  type SessionUpdate,
  type SignalledConditions,
  type WarningCount,
} from "./report.js";

const { integer, optional, tuple } = decode;

/** Characters of each stream that are kept of the beginning, and of the end, between two outcomes. */
const HEAD_LIMIT = 2_000_000;

const TAIL_LIMIT = 10_000;

/** Warnings kept between two outcomes. */
const WARNINGS_LIMIT = 1000;

/** Changes from one stream to the other whose order is kept between two outcomes. */
const RUNS_LIMIT = 100_000;

const NOTHING: readonly OmittedOutput[] = [];

const NO_PIECES: readonly OutputChunk[] = [];

/** What is kept of a stream. */
interface KeptText {
  readonly text: string;
  /** Places where text is missing, in order. */
  readonly omitted: readonly OmittedOutput[];
  /** The length of the beginning, which is followed by a gap of `dropped` units that arrived and were not kept. */
  readonly head: number;
  readonly dropped: number;
}

/** Text of one stream that arrived while none came from the other: the positions where it begins and ends among all that arrived of its stream. */
interface Run {
  readonly stream: OutputStream;
  readonly start: number;
  end: number;
}

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
  #dropped = 0;

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

  /** Units that have arrived. */
  get arrived(): number {
    return this.#head.length + this.#dropped + this.#tail.length;
  }

  get kept(): KeptText {
    const { length: head } = this.#head;
    return { text: this.#head + this.#tail, omitted: this.#omitted, head, dropped: this.#dropped };
  }

  clear(): void {
    this.#head = "";
    this.#tail = "";
    this.#omitted = NOTHING;
    this.#dropped = 0;
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
    this.#dropped += start;
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

/** The pieces of a run that are kept: it is divided where text is missing. */
function piecesOf({ stream, start, end }: Run, { text, omitted, head, dropped }: KeptText): OutputChunk[] {
  const keptAt = (arrived: number) => (arrived <= head ? arrived : Math.max(head, arrived - dropped));
  const last = keptAt(end);
  const pieces: OutputChunk[] = [];
  let from = keptAt(start);
  const gaps = omitted.filter(({ at }) => at >= from && at < last);
  const add = (to: number, omittedBefore: number) => {
    const piece = { stream, text: text.slice(from, to) };
    if (to > from) pieces.push(omittedBefore === 0 ? piece : { ...piece, omittedBefore });
    from = to;
  };
  let missing = 0;
  for (const { at, count } of gaps) {
    add(at, missing);
    missing = count;
  }
  add(last, missing);
  return pieces;
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
  /** The order of what has arrived. */
  #runs: Run[] = [];
  /** Numbers of runs before the present leg, and before the next one: a leg lasts until the evaluation stops or ends. */
  #leg = 0;
  #nextLeg = 0;
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
    const all = this.#text[stream];
    const start = all.arrived;
    if (omittedBefore > 0) all.skip(omittedBefore);
    all.append(text);
    const last = this.#runs.at(-1);
    if (last?.stream === stream && this.#runs.length > this.#nextLeg) last.end = all.arrived;
    else this.#runs.push({ stream, start, end: all.arrived });
    if (this.#runs.length > RUNS_LIMIT) this.#mergeRuns();
  }

  /** What has arrived since the last leg and was not taken. */
  pieces(): readonly OutputChunk[] {
    return this.#piecesFrom(this.#leg);
  }

  /** The evaluation has stopped: what arrives from now on belongs to the next leg. */
  endLeg(): void {
    this.#nextLeg = this.#runs.length;
  }

  /** The evaluation has resumed. */
  beginLeg(): void {
    this.#leg = this.#nextLeg;
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
    const taken = this.copy(milliseconds);
    if (this.#runs.length > 0) this.#clearOutput();
    this.#warnings = [];
    this.#warningsInFiles = [];
    this.#warningsOmitted = 0;
    this.#redefinitions = NO_REDEFINITIONS;
    this.#conditions = undefined;
    return taken;
  }

  /** Returns what `take` would return, and clears nothing. */
  copy(milliseconds: number | undefined): Transcript {
    const conditions = this.#conditions;
    const { stdout, stderr } = this.#kept;
    const copied = {
      stdout: stdout.text,
      stderr: stderr.text,
      output: this.#piecesFrom(0),
      outputOmitted: [...stdout.omitted, ...stderr.omitted],
      warnings: this.#warnings,
      warningsInFiles: this.#warningsInFiles,
      warningsOmitted: this.#warningsOmitted,
      redefinitions: this.#redefinitions,
      package: this.#session.package,
      milliseconds,
    };
    return conditions === undefined ? copied : { ...copied, conditions };
  }

  get #kept(): Readonly<Record<OutputStream, KeptText>> {
    return { stdout: this.#text.stdout.kept, stderr: this.#text.stderr.kept };
  }

  #piecesFrom(first: number): readonly OutputChunk[] {
    if (this.#runs.length === 0) return NO_PIECES;
    const kept = this.#kept;
    return this.#runs.slice(first).flatMap((run) => piecesOf(run, kept[run.stream]));
  }

  /** Forgets the order of the older half, apart from that of the stops. */
  #mergeRuns(): void {
    const half = RUNS_LIMIT / 2;
    const [leg, nextLeg] = [Math.min(this.#leg, half), Math.min(this.#nextLeg, half)];
    const before = mergedRuns(this.#runs.slice(0, leg));
    const between = mergedRuns(this.#runs.slice(leg, nextLeg));
    const older = [...before, ...between, ...mergedRuns(this.#runs.slice(nextLeg, half))];
    const fewer = half - older.length;
    this.#runs = [...older, ...this.#runs.slice(half)];
    this.#leg = this.#leg <= half ? before.length : this.#leg - fewer;
    this.#nextLeg = this.#nextLeg <= half ? before.length + between.length : this.#nextLeg - fewer;
  }

  #clearOutput(): void {
    this.#text.stdout.clear();
    this.#text.stderr.clear();
    this.#runs = [];
    this.#leg = 0;
    this.#nextLeg = 0;
  }
}

/** One run for each stream. */
function mergedRuns(runs: readonly Run[]): readonly Run[] {
  return (["stdout", "stderr"] as const).flatMap((stream) => {
    const own = runs.filter((run) => run.stream === stream);
    const [first, last] = [own[0], own.at(-1)];
    return first === undefined || last === undefined ? [] : [{ stream, start: first.start, end: last.end }];
  });
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
    inside: [...before.inside, ...after.inside],
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

const target = tuple(integer, integer, optional(integer), optional(integer), optional(integer));

/**
 * Decodes a target of the runtime, `(ID STREAM-NUMBER [OMITTED [THREAD TAG]])` (lisp/evaluate/output.lisp and reading.lisp,
 * lisp/emacs/questions.lisp); `undefined` for any other.
 */
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
