import { dotted } from "../syntax/kinds.js";
import { NIL } from "../syntax/symbols.js";
import type { Sexp } from "../types.js";
import type { Cursor } from "./cursor.js";

/** Turns the datum after a prefix into the datum that both denote. */
export type Finish = (datum: Sexp) => Sexp;

/** What a frame does with the next datum: collect it, take it as the tail after a dot, refuse it, or finish with it. */
const Mode = { items: 0, tail: 1, ended: 2, prefix: 3 } as const;

/** A list or prefix that has begun and not ended; the outermost one is the text itself. */
interface Frame {
  readonly parent: Frame | undefined;
  /** Where it begins in the text. */
  readonly offset: number;
  /** Where its elements begin on the value stack. */
  readonly base: number;
  /** A list after a dot: its elements go on with those of the parent. */
  readonly isRest: boolean;
  readonly finish: Finish | undefined;
  mode: (typeof Mode)[keyof typeof Mode];
  tail: Sexp;
}

/**
 * Puts data together from parentheses, dots, prefixes and atoms, with a stack of its own in place of recursion.
 *
 * Elements wait on one value stack; when their list ends they are cut off it as an array of the right size.
 */
export class Assembler {
  readonly #cursor: Cursor;
  readonly #values: Sexp[] = [];
  #top = 0;
  #frame: Frame = newFrame(undefined, 0, 0, false);

  constructor(cursor: Cursor) {
    this.#cursor = cursor;
  }

  /** Takes a datum, and gives the top-level datum that this completes, if any. */
  add(value: Sexp, offset: number): Sexp | undefined {
    for (let datum = value; ; ) {
      const frame = this.#frame;
      if (frame.mode === Mode.items) {
        if (frame.parent === undefined) return datum;
        this.#values[this.#top++] = datum;
        return undefined;
      }
      if (frame.finish === undefined) {
        this.#addTail(frame, datum, offset);
        return undefined;
      }
      this.#pop(frame);
      datum = frame.finish(datum);
    }
  }

  /** Begins a list. */
  open(offset: number): void {
    const parent = this.#frame;
    this.#frame = newFrame(parent, offset, this.#top, parent.mode === Mode.tail);
  }

  /** Begins a syntax that applies to the next datum. */
  prefix(offset: number, finish: Finish): void {
    this.#frame = { ...newFrame(this.#frame, offset, this.#top, false), mode: Mode.prefix, finish };
  }

  /** Announces the tail of a dotted list. */
  dot(offset: number): void {
    const frame = this.#frame;
    if (frame.parent === undefined || frame.mode !== Mode.items || this.#top === frame.base) {
      throw this.#cursor.error("MISPLACED_DOT", offset);
    }
    frame.mode = Mode.tail;
  }

  /** Ends the innermost list, and gives the top-level datum that this completes, if any. */
  close(offset: number): Sexp | undefined {
    const frame = this.#frame;
    if (frame.finish !== undefined) throw this.#cursor.error("MISSING_DATUM", frame.offset);
    if (frame.parent === undefined) throw this.#cursor.error("UNEXPECTED_CLOSE", offset);
    if (frame.mode === Mode.tail) throw this.#cursor.error("MISPLACED_DOT", offset);
    this.#frame = frame.parent;
    if (frame.isRest) return this.#addTail(frame.parent, frame.tail, offset);
    const items = this.#values.slice(frame.base, this.#top);
    this.#top = frame.base;
    return this.add(listOf(items, frame), frame.offset);
  }

  /** Refuses to end inside a list or after a prefix. */
  end(): void {
    const frame = this.#frame;
    if (frame.parent === undefined) return;
    throw this.#cursor.error(frame.finish === undefined ? "UNCLOSED_LIST" : "MISSING_DATUM", frame.offset);
  }

  #pop(frame: Frame): void {
    if (frame.parent !== undefined) this.#frame = frame.parent;
  }

  #addTail(frame: Frame, datum: Sexp, offset: number): undefined {
    if (frame.mode === Mode.ended) throw this.#cursor.error("MISPLACED_DOT", offset);
    frame.tail = datum;
    frame.mode = Mode.ended;
  }
}

function newFrame(parent: Frame | undefined, offset: number, base: number, isRest: boolean): Frame {
  return { parent, offset, base, isRest, finish: undefined, mode: Mode.items, tail: NIL };
}

function listOf(items: readonly Sexp[], frame: Frame): Sexp {
  if (frame.mode === Mode.ended) return dotted(items, frame.tail);
  return items.length === 0 ? NIL : items;
}
