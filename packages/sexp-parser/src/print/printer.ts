import { PrintError } from "../errors.js";
import { FUNCTION, NIL, QUOTE } from "../syntax/symbols.js";
import type { ArrayLiteral, DottedList, Quasi, Sexp } from "../types.js";
import { printAtom, unprintable } from "./atom.js";
import { isLong, printString, stringPieces } from "./string.js";

/** A compound whose elements are being printed. */
interface Frame {
  readonly parent: Frame | undefined;
  readonly datum: Sexp;
  readonly depth: number;
  readonly items: readonly Sexp[];
  /** Index of the first element to print; the opening text stands for those before it. */
  readonly first: number;
  next: number;
  /** The datum after a dot, if any. */
  tail: Sexp | undefined;
  readonly close: string;
}

/**
 * The text of a datum in standard syntax, on one line unless a string or symbol holds a newline.
 *
 * Names are in lower case, as Swank writes them, and between bars when they would not read back otherwise. Reading the
 * text gives an equal datum. Opaque text is printed unchecked. Lone surrogates in strings are kept; encoding the text as
 * UTF-8 replaces them.
 *
 * @throws {PrintError} `UNPRINTABLE` when a value in it is not Lisp data
 */
export function print(datum: Sexp): string {
  return new Printer(Number.POSITIVE_INFINITY).print(datum);
}

/** Part of a printed text: the text itself, or its UTF-8. */
export type Piece = string | Uint8Array;

/**
 * The text of a datum in pieces, for encoding as UTF-8: long strings come as bytes, because printing them to a string and encoding that
 * takes longer.
 *
 * @throws {PrintError} as `print` does
 */
export function printPieces(datum: Sexp): readonly Piece[] {
  return new Printer(Number.POSITIVE_INFINITY).printPieces(datum);
}

/** The start of the text of a datum: about `limit` chars at most, then `...` when text is left out. */
export function preview(datum: Sexp, limit: number): string {
  const text = new Printer(limit).print(datum);
  return text.length > limit ? `${text.slice(0, limit)}...` : text;
}

/** The printer looks for data that contain themselves at this depth, and at every doubling of it. */
const SUSPICIOUS_DEPTH = 4096;

const QUASI_PREFIXES = { backquote: "`", unquote: ",", splice: ",@", nsplice: ",." } as const;

class Printer {
  readonly #limit: number;
  /** Pieces before `#out`, when the text is wanted in pieces. */
  #pieces: Piece[] | undefined;
  #out = "";
  #frame: Frame | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  print(datum: Sexp): string {
    this.#write(datum);
    while (this.#frame !== undefined && this.#out.length <= this.#limit) this.#step(this.#frame);
    return this.#out;
  }

  printPieces(datum: Sexp): readonly Piece[] {
    const pieces: Piece[] = [];
    this.#pieces = pieces;
    pieces.push(this.print(datum));
    return pieces;
  }

  #step(frame: Frame): void {
    const { items, next } = frame;
    if (next < items.length) {
      if (frame.next++ > frame.first) this.#out += " ";
      this.#write(items[next]);
    } else if (frame.tail !== undefined) {
      const { tail } = frame;
      frame.tail = undefined;
      this.#out += " . ";
      this.#write(tail);
    } else {
      this.#out += frame.close;
      this.#frame = frame.parent;
    }
  }

  #write(datum: Sexp | undefined | null): void {
    if (datum === undefined || datum === null) throw unprintable(datum);
    if (typeof datum === "string") this.#writeString(this.#cut(datum));
    else if (typeof datum !== "object") this.#out += printAtom(datum);
    else if ("kind" in datum) this.#writeObject(datum);
    else if (Array.isArray(datum)) this.#writeList(datum);
    else throw unprintable(datum);
  }

  #writeString(text: string): void {
    if (this.#pieces === undefined || !isLong(text)) this.#out += printString(text);
    else {
      this.#pieces.push(this.#out, ...stringPieces(text));
      this.#out = "";
    }
  }

  #cut(text: string): string {
    return text.length > this.#limit ? text.slice(0, this.#limit + 1) : text;
  }

  #writeList(items: readonly Sexp[]): void {
    const [head] = items;
    if (items.length === 0) this.#out += printAtom(NIL);
    else if (items.length === 2 && head === QUOTE) this.#open(items, "'", items, "", 1);
    else if (items.length === 2 && head === FUNCTION) this.#open(items, "#'", items, "", 1);
    else this.#open(items, "(", items, ")");
  }

  #writeObject(datum: Extract<Sexp, { kind: string }>): undefined {
    switch (datum.kind) {
      case "dotted":
        return this.#writeDotted(datum);
      case "vector":
        return this.#open(datum, "#(", datum.items, ")");
      case "array":
        return this.#open(datum, arrayPrefix(datum), [datum.contents], "");
      case "complex":
        return this.#open(datum, "#C(", [datum.real, datum.imaginary], ")");
      case "structure":
        return this.#open(datum, "#S(", [datum.name, ...arrayOf(datum.slots, datum)], ")");
      case "backquote":
      case "unquote":
      case "splice":
      case "nsplice":
        return this.#open(datum, quasiPrefix(datum), [datum.datum], "");
      default:
        this.#out += printAtom(datum);
        return undefined;
    }
  }

  #writeDotted(datum: DottedList): undefined {
    if (datum.tail === undefined) throw unprintable(datum.tail);
    return this.#open(datum, "(", datum.items, ")", 0, datum.tail);
  }

  #open(datum: Sexp, open: string, items: readonly Sexp[], close: string, first = 0, tail?: Sexp): undefined {
    this.#out += open;
    const depth = (this.#frame?.depth ?? 0) + 1;
    this.#frame = { parent: this.#frame, datum, depth, items: arrayOf(items, datum), first, next: first, tail, close };
    if (depth >= SUSPICIOUS_DEPTH && Number.isInteger(Math.log2(depth))) refuseCycle(this.#frame);
  }
}

function arrayOf(items: readonly Sexp[], datum: Sexp): readonly Sexp[] {
  if (!Array.isArray(items)) throw unprintable(datum);
  return items;
}

/** Printing a datum that contains itself would not end. */
function refuseCycle(innermost: Frame): void {
  const open = new Set<Sexp>();
  for (let frame: Frame | undefined = innermost; frame !== undefined; frame = frame.parent) {
    if (open.has(frame.datum)) throw new PrintError("A datum that contains itself");
    open.add(frame.datum);
  }
}

function arrayPrefix({ rank }: ArrayLiteral): string {
  if (!Number.isSafeInteger(rank) || rank < 0) throw new PrintError(`An array of rank ${rank}`);
  return `#${rank}A`;
}

function quasiPrefix({ kind, datum }: Quasi): string {
  // `,` before @foo or .5 would read back as `,@` or `,.`
  return kind === "unquote" && startsLikeSplice(datum) ? ", " : QUASI_PREFIXES[kind];
}

function startsLikeSplice(datum: Sexp): boolean {
  if (typeof datum !== "object" || !("kind" in datum)) return false;
  return (datum.kind === "symbol" || datum.kind === "float") && /^[@.]/.test(printAtom(datum));
}
