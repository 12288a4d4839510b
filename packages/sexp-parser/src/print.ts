import { type Atom, FUNCTION, NIL, QUOTE } from "./data.js";
import { PrintError } from "./errors.js";
import { characterName, isFloat, isPotentialNumber } from "./tokens.js";
import type { ArrayLiteral, DottedList, LispSymbol, Quasi, Sexp } from "./types.js";

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
    if (typeof datum === "string") this.#out += printString(this.#cut(datum));
    else if (typeof datum !== "object") this.#out += printAtom(datum);
    else if ("kind" in datum) this.#writeObject(datum);
    else if (Array.isArray(datum)) this.#writeList(datum);
    else throw unprintable(datum);
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

/** A Lisp string: only `"` and `\` are escaped, every other character stands for itself. */
function printString(text: string): string {
  if (!text.includes('"') && !text.includes("\\")) return `"${text}"`;
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** The text of an atom. */
export function printAtom(atom: Atom): string {
  if (typeof atom === "string") return printString(atom);
  if (typeof atom === "number") return printInteger(atom);
  if (typeof atom === "bigint") return atom.toString();
  if (typeof atom !== "object") throw unprintable(atom);
  switch (atom.kind) {
    case "symbol":
      return printSymbol(atom);
    case "float":
      return checked(atom.text, isFloat(atom.text), "A float with the text");
    case "ratio":
      return checked(`${atom.numerator}/${atom.denominator}`, atom.denominator > 0n, "The ratio");
    case "character":
      return `#\\${checked(characterName(atom.value), [...atom.value].length === 1, "The character")}`;
    case "bit-vector":
      return `#*${checked(atom.bits, /^[01]*$/.test(atom.bits), "A bit vector of")}`;
    case "pathname":
      return `#P${printString(checkedText(atom.namestring, "The text of a pathname"))}`;
    case "opaque":
      return checkedText(atom.text, "The text of an opaque datum");
    default:
      throw unprintable(atom);
  }
}

/** The error for a value that is not Lisp data, such as `undefined`, a boolean or a function. */
function unprintable(value: unknown): PrintError {
  return new PrintError(`A JavaScript value (${describe(value)})`);
}

function describe(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  return "kind" in value ? `an object of the kind ${String(value.kind)}` : "an object without a kind";
}

/** Callers without TypeScript can put any value into a field. */
function checkedText(text: string, what: string): string {
  if (typeof text !== "string") throw new PrintError(`${what}, ${describe(text)},`);
  return text;
}

function printInteger(value: number): string {
  return checked(String(value + 0), Number.isSafeInteger(value), "The number");
}

function checked(text: string, isValid: boolean, what: string): string {
  if (!isValid) throw new PrintError(`${what} ${text}`);
  return text;
}

/** Names of these chars read back in either case, unless they look like a number or consist of dots. */
const PLAIN = /^[A-Z0-9!$%&*+\-./<=>?@^_~{}[\]]+$/;

/** The text of a symbol: in lower case when this reads back as the same name, otherwise between bars. */
function printSymbol({ name, package: packageName, internal }: LispSymbol): string {
  if (packageName === undefined) return printName(name);
  if (packageName === "KEYWORD") return `:${printName(name)}`;
  if (packageName === "") return `#:${printName(name)}`;
  return `${printName(packageName)}${internal ? "::" : ":"}${printName(name)}`;
}

function printName(name: string): string {
  if (typeof name !== "string") throw new PrintError(`A symbol with the name or package ${String(name)}`);
  const isPlain = PLAIN.test(name) && !isPotentialNumber(name) && !/^\.+$/.test(name);
  return isPlain ? name.toLowerCase() : `|${name.replace(/[\\|]/g, "\\$&")}|`;
}
