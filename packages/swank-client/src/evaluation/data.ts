import {
  type Atom,
  type Character,
  type Compound,
  dotted,
  float,
  fold,
  intern,
  isDotted,
  isList,
  keyword,
  type LispSymbol,
  list,
  NIL,
  print,
  type Ratio,
  type Sexp,
  T,
} from "sexp-parser";
import { SwankError } from "../base/errors.js";

/**
 * A JavaScript value that can be sent to Lisp as data. Which objects these are is checked when they are sent: arrays, maps, plain objects, and
 * data of `sexp-parser` such as symbols.
 */
export type DataValue = string | number | bigint | boolean | null | undefined | object;

/** A pair that ends no list: `(a . b)`, and `(a b . c)`. */
export interface LispPair {
  readonly kind: "dotted";
  readonly items: readonly [LispData, ...LispData[]];
  readonly tail: LispData;
}

/**
 * A value of Lisp as data. `NIL` is `null`, whether it means false or the empty list, and `T` is `true`; lists and vectors are arrays, floats
 * numbers, integers numbers or, beyond 2^53, bigints; pathnames are strings. Ratios, characters, symbols and pairs are those of `sexp-parser`.
 */
export type LispData =
  | string
  | number
  | bigint
  | true
  | null
  | readonly LispData[]
  | LispSymbol
  | Ratio
  | Character
  | LispPair;

/** Levels of nesting that a value may have, so that Lisp can read it in any thread. */
const MOST_LEVELS = 1000;

/** The objects of `sexp-parser` that are sent as they are, with their fields. Others, such as `#.` forms, are no data, but code. */
const FIELDS = {
  float: "kind,text,value",
  ratio: "denominator,kind,numerator",
  character: "kind,value",
  vector: "items,kind",
  dotted: "items,kind,tail",
} as const;

type Kind = keyof typeof FIELDS;

/**
 * The Lisp data for a JavaScript value, as `call` and the tag `lisp` send it.
 *
 * @param name - Names the value in errors.
 * @throws SwankError `INVALID_ARGUMENT` with the place of the part that has no Lisp data.
 */
export function toLisp(value: unknown, name: string): Sexp {
  return converted(value, name, []);
}

/** @param around - The objects that the value is in. */
function converted(value: unknown, place: string, around: readonly object[]): Sexp {
  if (typeof value === "string") return textData(value, place);
  if (typeof value === "number") return numberData(value, place);
  if (typeof value === "bigint") return value;
  if (value === true) return T;
  if (value === false || value === null || value === undefined) return NIL;
  if (typeof value !== "object") throw refused(place, `is a ${typeof value}`);
  if (around.includes(value)) throw refused(place, "contains itself");
  if (around.length >= MOST_LEVELS) throw refused(place.slice(0, 80), `is nested deeper than ${MOST_LEVELS} levels`);
  return objectData(value, place, [...around, value]);
}

/** A lone surrogate is no character, and would arrive as another one. */
function textData(text: string, place: string): string {
  if (/\p{Surrogate}/u.test(text)) throw refused(place, "has half of a surrogate pair, which is no character");
  return text;
}

function numberData(value: number, place: string): Sexp {
  if (Number.isSafeInteger(value)) return value;
  if (Number.isFinite(value)) return float(value);
  throw refused(
    place,
    `is ${value}`,
    "Lisp has no syntax for it: send a keyword, such as keyword('infinity'), and decide in Lisp.",
  );
}

function objectData(value: object, place: string, around: readonly object[]): Sexp {
  if (isSymbolObject(value)) return value;
  const part = (item: unknown, where: string) => converted(item, where, around);
  if (Array.isArray(value)) return list(...value.map((item: unknown, index) => part(item, `${place}[${index}]`)));
  if (value instanceof Map) {
    const pairs = Array.from(value, ([key, item]: [unknown, unknown], index) =>
      dotted([part(key, `key ${index} of ${place}`)], part(item, `value ${index} of ${place}`)),
    );
    return list(...pairs);
  }
  if (isOf("float", value) || isOf("ratio", value) || isOf("character", value)) return atomData(value, place);
  if (isOf("vector", value)) {
    return { kind: "vector", items: value.items.map((item, index) => part(item, `${place}.items[${index}]`)) };
  }
  if (isOf("dotted", value)) {
    const items = value.items.map((item, index) => part(item, `${place}.items[${index}]`));
    return dotted(items, part(value.tail, `${place}.tail`));
  }
  if (!isPlain(value)) throw refused(place, `is a ${value.constructor?.name ?? "object"}`);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return list(...entries.flatMap(([key, item]) => [keyOf(key), part(item, `${place}.${key}`)]));
}

/** The key of a property list, as `decode.plist` reads it: `fileName` is `:file-name`. */
function keyOf(name: string): LispSymbol {
  return keyword(name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
}

/** Whether an object is a symbol that `sexp-parser` has made. Objects of other origin, such as parsed JSON, are none. */
function isSymbolObject(value: object): value is LispSymbol {
  if (!("kind" in value && value.kind === "symbol" && "name" in value && typeof value.name === "string")) return false;
  const home = "package" in value && typeof value.package === "string" ? value.package : undefined;
  return intern(value.name, home, "internal" in value && value.internal === true) === value;
}

function isOf<const Name extends Kind>(kind: Name, value: object): value is Extract<Sexp, { kind: Name }> {
  return "kind" in value && value.kind === kind && Object.keys(value).sort().join() === FIELDS[kind];
}

/** `print` refuses what only looks like an atom. */
function atomData(value: Sexp, place: string): Sexp {
  const isRatio = typeof value === "object" && "kind" in value && value.kind === "ratio";
  if (isRatio && (typeof value.numerator !== "bigint" || typeof value.denominator !== "bigint")) {
    throw refused(place, "is a ratio without bigints");
  }
  try {
    print(value);
  } catch (cause) {
    throw new SwankError("INVALID_ARGUMENT", `${place} is no Lisp data.`, { cause });
  }
  return value;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

const SENDABLE =
  "Send strings, finite numbers, bigints, booleans, null, arrays, maps, plain objects, and symbols and numbers of sexp-parser.";

function refused(place: string, problem: string, remedy = SENDABLE): SwankError {
  return new SwankError("INVALID_ARGUMENT", `${place} ${problem}, and cannot be sent as Lisp data.`, { remedy });
}

/** A value of Lisp that has no data form. */
class Formless extends Error {}

/**
 * The JavaScript value for Lisp data.
 *
 * @throws SwankError `UNEXPECTED_REPLY` if a part of it has no data form.
 */
export function fromLisp(datum: Sexp): LispData {
  try {
    return fold<LispData>(datum, { atom: atomOf, compound: compoundOf });
  } catch (cause) {
    if (!(cause instanceof Formless)) throw cause;
    throw new SwankError("UNEXPECTED_REPLY", cause.message, {
      remedy:
        'Return strings, numbers, symbols and lists made of it, e.g. with list, alexandria:hash-table-alist or princ-to-string. To look at the object, evaluate with valuesAs: "ids" and call program.inspectObject.',
    });
  }
}

/** Characters of a value that an error shows. */
const SHOWN_LENGTH = 200;

function formless(datum: Sexp, what: string): Formless {
  return new Formless(`${print(datum).slice(0, SHOWN_LENGTH)} is ${what}, which has no data form.`);
}

function atomOf(datum: Atom): LispData {
  if (typeof datum !== "object") return datum;
  switch (datum.kind) {
    case "symbol":
      return datum === NIL ? null : datum === T || datum;
    case "float":
      return Number.isFinite(datum.value) ? datum.value : refuse(datum, "a float beyond the range of a double");
    case "bit-vector":
      return Array.from(datum.bits, Number);
    case "pathname":
      return datum.namestring;
    case "opaque":
      return refuse(datum, opaqueKind(datum.text));
    default:
      return datum;
  }
}

function opaqueKind(text: string): string {
  if (text.startsWith("#<")) return "an object without a syntax";
  if (text.startsWith("#\\")) return "a character that only Lisp can name";
  return /INFINITY/i.test(text) ? "an infinity" : "syntax that only Lisp can read";
}

function compoundOf(datum: Compound, parts: readonly LispData[]): LispData {
  if (isList(datum)) return datum.length === 0 ? null : parts;
  if (isDotted(datum)) {
    const [first, ...others] = parts.slice(0, -1);
    const tail = parts.at(-1);
    if (first === undefined || tail === undefined) return refuse(datum, "a pair without parts");
    return { kind: "dotted", items: [first, ...others], tail };
  }
  if (datum.kind === "vector") return parts;
  return refuse(datum, KINDS[datum.kind]);
}

const KINDS = {
  array: "an array with several dimensions",
  complex: "a complex number",
  structure: "a structure",
  backquote: "a backquoted form",
  unquote: "an unquoted form",
  splice: "an unquoted form",
  nsplice: "an unquoted form",
} as const;

function refuse(datum: Sexp, what: string): never {
  throw formless(datum, what);
}
