import { dotted, NIL } from "./data.js";
import { type ReadErrorCode, SexpError } from "./errors.js";
import type { Sexp } from "./types.js";

/** Turns the datum after a prefix into the datum of both. */
type Finish = (datum: Sexp) => Sexp;

/**
 * The use of the next datum in a frame: an element (`items`), the tail after a dot (`tail`), an error (`ended`), the
 * datum of a prefix (`prefix`), or a result (`top`).
 */
const Mode = { items: 0, tail: 1, ended: 2, prefix: 3, top: 4 } as const;
type Mode = (typeof Mode)[keyof typeof Mode];

/**
 * A list or prefix that is still open, or the text itself, which is its own parent.
 *
 * Frames are reused for later lists at the same depth, because creating one takes longer than reading a short list.
 */
class Frame {
  readonly parent: Frame;
  /** Lists and prefixes around the data, this one included; 0 for the text. */
  readonly depth: number;
  /** The start of the list or prefix. */
  offset = 0;
  /** The start of its elements on the value stack. */
  base = 0;
  mode: Mode = Mode.top;
  finish: Finish | undefined = undefined;
  tail: Sexp = NIL;
  #child: Frame | undefined = undefined;

  constructor(parent?: Frame) {
    this.parent = parent ?? this;
    this.depth = parent === undefined ? 0 : parent.depth + 1;
  }

  /** The frame for a list or prefix directly inside. */
  begin(offset: number, base: number, mode: Mode, finish?: Finish): Frame {
    this.#child ??= new Frame(this);
    const child = this.#child;
    child.offset = offset;
    child.base = base;
    child.mode = mode;
    child.finish = finish;
    child.tail = NIL;
    return child;
  }
}

/**
 * Builds data from parentheses, dots, prefixes and atoms, with an explicit stack instead of recursion.
 *
 * Elements wait on one value stack. At the end of their list they become an array of the right size.
 */
export class Assembler {
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #values: Sexp[] = [];
  #top = 0;
  #frame = new Frame();

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
  }

  /** Adds a datum that begins at `offset`; returns the top-level datum that it completes, if any. */
  add(datum: Sexp, offset: number): Sexp | undefined {
    if (this.#frame.mode !== Mode.items) return this.#addSpecial(datum, offset);
    this.#values[this.#top++] = datum;
    return undefined;
  }

  #addSpecial(value: Sexp, offset: number): Sexp | undefined {
    let datum = value;
    let start = offset;
    while (this.#frame.finish !== undefined) {
      const { finish, parent } = this.#frame;
      start = this.#frame.offset;
      this.#frame = parent;
      datum = finish(datum);
    }
    if (this.#frame.mode === Mode.top) return datum;
    if (this.#frame.mode !== Mode.items) return this.#addTail(this.#frame, datum, start);
    this.#values[this.#top++] = datum;
    return undefined;
  }

  /** Begins a list. After a dot its elements continue the list around it, since `(a . (b))` is `(a b)`. */
  open(offset: number): void {
    this.#frame = this.#frame.begin(offset, this.#top, Mode.items);
    this.#checkDepth(offset);
  }

  /** Begins a syntax that applies to the next datum. */
  prefix(offset: number, finish: Finish): undefined {
    this.#frame = this.#frame.begin(offset, this.#top, Mode.prefix, finish);
    this.#checkDepth(offset);
  }

  #checkDepth(offset: number): void {
    if (this.#frame.depth > this.#maxDepth) throw this.#error("NESTED_TOO_DEEP", offset);
  }

  #error(code: ReadErrorCode, offset: number): SexpError {
    return new SexpError(code, this.#text, offset);
  }

  /** Begins the tail of a dotted list. */
  dot(offset: number): undefined {
    const frame = this.#frame;
    if (frame.mode !== Mode.items || this.#top === frame.base) throw this.#error("MISPLACED_DOT", offset);
    frame.mode = Mode.tail;
  }

  /** Ends the innermost list; returns the top-level datum that this completes, if any. */
  close(offset: number): Sexp | undefined {
    const frame = this.#frame;
    if (frame.mode === Mode.prefix) throw this.#error("MISSING_DATUM", frame.offset);
    if (frame.mode === Mode.top) throw this.#error("UNEXPECTED_CLOSE", offset);
    if (frame.mode === Mode.tail) throw this.#error("MISPLACED_DOT", offset);
    this.#frame = frame.parent;
    if (frame.parent.mode === Mode.tail) return this.#addTail(frame.parent, frame.tail, offset);
    const items = this.#values.slice(frame.base, this.#top);
    this.#top = frame.base;
    return this.add(dotted(items, frame.tail), frame.offset);
  }

  /** Throws when the text ends inside a list or after a prefix. */
  end(): void {
    const { mode, offset } = this.#frame;
    if (mode === Mode.top) return;
    throw this.#error(mode === Mode.prefix ? "MISSING_DATUM" : "UNCLOSED_LIST", offset);
  }

  #addTail(frame: Frame, datum: Sexp, offset: number): undefined {
    if (frame.mode === Mode.ended) throw this.#error("MISPLACED_DOT", offset);
    frame.tail = datum;
    frame.mode = Mode.ended;
  }
}
