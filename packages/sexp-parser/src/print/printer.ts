import { PrintError } from "../errors.js";
import { FUNCTION, NIL, QUOTE } from "../syntax/symbols.js";
import type { ArrayLiteral, Quasi, Sexp } from "../types.js";
import { printAtom } from "./atom.js";

/** Elements that are still to be printed, and the text after them. */
interface Frame {
  readonly parent: Frame | undefined;
  readonly items: readonly Sexp[];
  /** Index of the first element to print; the ones before it are covered by the opening text. */
  readonly first: number;
  next: number;
  /** The datum after a dot, if any. */
  tail: Sexp | undefined;
  readonly close: string;
}

/**
 * The text of a datum in standard syntax, on one line unless a string or symbol holds a newline.
 *
 * Names are in lower case as Swank writes them, and between bars where they would not read back otherwise. Reading the
 * text gives an equal datum. Opaque text is printed as it is, unchecked. Lone surrogates in strings are kept: whoever
 * encodes the text as UTF-8 must replace them.
 *
 * @throws {PrintError} `UNPRINTABLE` when a value in it is not Lisp data
 */
export function print(datum: Sexp): string {
  return new Printer(Number.POSITIVE_INFINITY).print(datum);
}

/** The beginning of the text of a datum: at most about `limit` chars, with `...` for what is left out. */
export function preview(datum: Sexp, limit: number): string {
  const text = new Printer(limit).print(datum);
  return text.length > limit ? `${text.slice(0, limit)}...` : text;
}

const QUASI_PREFIXES = { backquote: "`", unquote: ",", splice: ",@", nsplice: ",." } as const;

class Printer {
  readonly #limit: number;
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

  #step(frame: Frame): void {
    const item = frame.items[frame.next];
    if (item !== undefined) {
      if (frame.next++ > frame.first) this.#out += " ";
      this.#write(item);
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

  #write(datum: Sexp): void {
    if (typeof datum !== "object") this.#out += printAtom(typeof datum === "string" ? this.#cut(datum) : datum);
    else if (!("kind" in datum)) this.#writeList(datum);
    else this.#writeObject(datum);
  }

  #cut(text: string): string {
    return text.length > this.#limit ? text.slice(0, this.#limit + 1) : text;
  }

  #writeList(items: readonly Sexp[]): void {
    const [head] = items;
    if (head === undefined) this.#out += printAtom(NIL);
    else if (items.length === 2 && head === QUOTE) this.#open("'", items, "", 1);
    else if (items.length === 2 && head === FUNCTION) this.#open("#'", items, "", 1);
    else this.#open("(", items, ")");
  }

  #writeObject(datum: Extract<Sexp, { kind: string }>): undefined {
    switch (datum.kind) {
      case "dotted":
        return this.#open("(", datum.items, ")", 0, datum.tail);
      case "vector":
        return this.#open("#(", datum.items, ")");
      case "array":
        return this.#open(arrayPrefix(datum), [datum.contents], "");
      case "complex":
        return this.#open("#C(", [datum.real, datum.imaginary], ")");
      case "structure":
        return this.#open("#S(", [datum.name, ...datum.slots], ")");
      case "backquote":
      case "unquote":
      case "splice":
      case "nsplice":
        return this.#open(quasiPrefix(datum), [datum.datum], "");
      default:
        this.#out += printAtom(datum);
        return undefined;
    }
  }

  #open(open: string, items: readonly Sexp[], close: string, first = 0, tail?: Sexp): undefined {
    this.#out += open;
    this.#frame = { parent: this.#frame, items, first, next: first, tail, close };
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
