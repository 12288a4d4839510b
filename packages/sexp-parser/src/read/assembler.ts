import { dotted } from "../syntax/kinds.js";
import { NIL } from "../syntax/symbols.js";
import type { Sexp } from "../types.js";
import type { Cursor } from "./cursor.js";

/** Turns the datum after a prefix into the datum that both denote. */
export type Finish = (datum: Sexp) => Sexp;

/**
 * What a frame does with the next datum: collect it (`items`), take it as what follows the dot (`tail`), refuse it
 * (`ended`), finish with it (`prefix`), or hand it out (`top`).
 */
const Mode = { items: 0, tail: 1, ended: 2, prefix: 3, top: 4 } as const;
type Mode = (typeof Mode)[keyof typeof Mode];

/** A list or prefix that has begun and not ended, or the text itself, which is its own parent. */
class Frame {
  readonly parent: Frame;
  /** Where it begins in the text. */
  readonly offset: number;
  /** Where its elements begin on the value stack. */
  readonly base: number;
  readonly finish: Finish | undefined;
  /** Lists and prefixes that it is in, itself included; 0 for the text. */
  readonly depth: number;
  mode: Mode;
  tail: Sexp = NIL;

  constructor(parent: Frame | undefined, offset: number, base: number, mode: Mode, finish?: Finish) {
    this.parent = parent ?? this;
    this.offset = offset;
    this.base = base;
    this.mode = mode;
    this.finish = finish;
    this.depth = parent === undefined ? 0 : parent.depth + 1;
  }
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
  #frame: Frame = new Frame(undefined, 0, 0, Mode.top);

  constructor(cursor: Cursor) {
    this.#cursor = cursor;
  }

  /** Takes a datum that begins at `offset`, and gives the top-level datum that this completes, if any. */
  add(datum: Sexp, offset: number): Sexp | undefined {
    if (this.#frame.mode !== Mode.items) return this.#addSpecial(datum, offset);
    this.#values[this.#top++] = datum;
    return undefined;
  }

  #addSpecial(value: Sexp, offset: number): Sexp | undefined {
    let datum = value;
    while (this.#frame.finish !== undefined) {
      const { finish, parent } = this.#frame;
      this.#frame = parent;
      datum = finish(datum);
    }
    if (this.#frame.mode === Mode.top) return datum;
    if (this.#frame.mode !== Mode.items) return this.#addTail(this.#frame, datum, offset);
    this.#values[this.#top++] = datum;
    return undefined;
  }

  /** Begins a list. After a dot its elements go on with those of the list around it, since `(a . (b))` is `(a b)`. */
  open(offset: number): void {
    this.#frame = new Frame(this.#frame, offset, this.#top, Mode.items);
    this.#checkDepth(offset);
  }

  /** Begins a syntax that applies to the next datum. */
  prefix(offset: number, finish: Finish): undefined {
    this.#frame = new Frame(this.#frame, offset, this.#top, Mode.prefix, finish);
    this.#checkDepth(offset);
  }

  #checkDepth(offset: number): void {
    if (this.#frame.depth > this.#cursor.maxDepth) throw this.#cursor.error("NESTED_TOO_DEEP", offset);
  }

  /** Announces the tail of a dotted list. */
  dot(offset: number): undefined {
    const frame = this.#frame;
    if (frame.mode !== Mode.items || this.#top === frame.base) throw this.#cursor.error("MISPLACED_DOT", offset);
    frame.mode = Mode.tail;
  }

  /** Ends the innermost list, and gives the top-level datum that this completes, if any. */
  close(offset: number): Sexp | undefined {
    const frame = this.#frame;
    if (frame.mode === Mode.items && frame.parent.mode === Mode.items && this.#top > frame.base) {
      this.#frame = frame.parent;
      const items = this.#values.slice(frame.base, this.#top);
      this.#top = frame.base;
      this.#values[this.#top++] = items;
      return undefined;
    }
    return this.#closeSpecial(frame, offset);
  }

  #closeSpecial(frame: Frame, offset: number): Sexp | undefined {
    if (frame.mode === Mode.prefix) throw this.#cursor.error("MISSING_DATUM", frame.offset);
    if (frame.mode === Mode.top) throw this.#cursor.error("UNEXPECTED_CLOSE", offset);
    if (frame.mode === Mode.tail) throw this.#cursor.error("MISPLACED_DOT", offset);
    this.#frame = frame.parent;
    if (frame.parent.mode === Mode.tail) return this.#addTail(frame.parent, frame.tail, offset);
    const items = this.#values.slice(frame.base, this.#top);
    this.#top = frame.base;
    return this.add(dotted(items, frame.tail), frame.offset);
  }

  /** Refuses to end inside a list or after a prefix. */
  end(): void {
    const { mode, offset } = this.#frame;
    if (mode === Mode.top) return;
    throw this.#cursor.error(mode === Mode.prefix ? "MISSING_DATUM" : "UNCLOSED_LIST", offset);
  }

  #addTail(frame: Frame, datum: Sexp, offset: number): undefined {
    if (frame.mode === Mode.ended) throw this.#cursor.error("MISPLACED_DOT", offset);
    frame.tail = datum;
    frame.mode = Mode.ended;
  }
}
