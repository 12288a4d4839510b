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
  type LispFloat,
  type LispSymbol,
  NIL,
  print,
  type Ratio,
  read,
  type Sexp,
  T,
} from "sexp-parser";
import { SwankError } from "../base/errors.js";

/**
 * A JavaScript value that can be sent to Lisp as data. Which objects these are is checked when they are sent: arrays, maps, plain objects, and
 * these objects of `sexp-parser`: symbols, floats, ratios, characters, vectors, bit vectors, pathnames and dotted lists. Symbols and the keys
 * of plain objects are interned in the image.
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
 * numbers, integers numbers or, beyond 2^53, bigints; pathnames are strings. Ratios, characters, symbols and pairs are those of `sexp-parser`,
 * symbols as CL-USER prints them: `car`, `my-app:exported`, `my-app::internal`.
 *
 * Lisp prints the value and the client reads the text. Half of a surrogate pair in a string becomes U+FFFD. A character that SBCL prints with
 * a Unicode name, such as `é`, has no data form. An instance whose `print-object` method prints readable syntax is read as that syntax.
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

type LispObject = Extract<Sexp, { kind: string }>;

/** The fields of the objects of `sexp-parser`. An object with exactly these fields counts as one, whatever its origin. */
const FIELDS: Readonly<Record<LispObject["kind"], string>> = {
  symbol: "internal,kind,name,package",
  float: "kind,text,value",
  ratio: "denominator,kind,numerator",
  character: "kind,value",
  "bit-vector": "bits,kind",
  pathname: "kind,namestring",
  vector: "items,kind",
  dotted: "items,kind,tail",
  array: "contents,kind,rank",
  complex: "imaginary,kind,real",
  structure: "kind,name,slots",
  backquote: "datum,kind",
  unquote: "datum,kind",
  splice: "datum,kind",
  nsplice: "datum,kind",
  opaque: "kind,text",
};

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

/** Whether a text has half of a surrogate pair, which is no character and would arrive as another one. */
export function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}

function textData(text: string, place: string): string {
  if (hasLoneSurrogate(text)) throw refused(place, "has half of a surrogate pair, which is no character");
  return text;
}

function numberData(value: number, place: string): Sexp {
  if (Number.isSafeInteger(value)) return value;
  if (Number.isFinite(value)) return isDenormal(value) ? denormalData(value) : float(value);
  throw refused(
    place,
    `is ${value}`,
    "Lisp has no syntax for it: send a keyword, such as keyword('infinity'), and decide in Lisp.",
  );
}

/** The smallest normal double and single. */
const SMALLEST_DOUBLE = 2 ** -1022;
const SMALLEST_SINGLE = 2 ** -126;

function isDenormal(value: number): boolean {
  return value !== 0 && Math.abs(value) < SMALLEST_DOUBLE;
}

/** SBCL's reader loses digits of denormal floats, so that Lisp computes the exact value when it reads the data. */
function denormalData(value: number): Sexp {
  return { kind: "opaque", text: `#.(|COMMON-LISP|:|SCALE-FLOAT| ${value / Number.MIN_VALUE}d0 -1074)` };
}

/** Converts a part of a value. */
type Convert = (item: unknown, place: string) => Sexp;

function objectData(value: object, place: string, around: readonly object[]): Sexp {
  const part: Convert = (item, where) => converted(item, where, around);
  // `Array.from` visits holes, too; `map` leaves them.
  if (Array.isArray(value)) {
    return listOf(Array.from(value, (item: unknown, index) => part(item, `${place}[${index}]`)));
  }
  if (value instanceof Map) {
    const pairs = Array.from(value, ([key, item]: [unknown, unknown], index) =>
      dotted([part(key, `key ${index} of ${place}`)], part(item, `value ${index} of ${place}`)),
    );
    return listOf(pairs);
  }
  const kind = kindOf(value);
  if (kind !== undefined) return lispObjectData(kind, value, place, part);
  if (!isPlain(value)) throw refused(place, `is a ${value.constructor?.name ?? "object"}`);
  return propertyList(value, place, part);
}

/** `list` of `sexp-parser` takes arguments, of which a call can have too many. */
function listOf(items: readonly Sexp[]): Sexp {
  return items.length === 0 ? NIL : items;
}

function propertyList(value: object, place: string, part: Convert): Sexp {
  const names = new Map<LispSymbol, string>();
  const items: Sexp[] = [];
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const key = keyOf(textData(name, `a key of ${place}`));
    const other = names.get(key);
    if (other !== undefined) throw refused(place, `has the keys ${other} and ${name}, which are both ${print(key)}`);
    names.set(key, name);
    items.push(key, part(item, `${place}.${name}`));
  }
  return listOf(items);
}

/** The key of a property list, as `decode.plist` reads it: `fileName` is `:file-name`. */
function keyOf(name: string): LispSymbol {
  return keyword(name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
}

/** The kind of `sexp-parser` whose fields an object has. */
function kindOf(value: object): LispObject["kind"] | undefined {
  if (!("kind" in value && isKind(value.kind))) return undefined;
  return Object.keys(value).sort().join() === FIELDS[value.kind] ? value.kind : undefined;
}

function isKind(kind: unknown): kind is LispObject["kind"] {
  return typeof kind === "string" && Object.hasOwn(FIELDS, kind);
}

/** The fields of the object can have any values. */
function lispObjectData(kind: LispObject["kind"], value: object, place: string, part: Convert): Sexp {
  const field = (name: string): unknown => Reflect.get(value, name);
  const text = (name: string) => textData(stringIn(field(name), name, place), place);
  const items = () =>
    Array.from(arrayIn(field("items"), place), (item, index) => part(item, `${place}.items[${index}]`));
  switch (kind) {
    case "symbol":
      return symbolData(value, place);
    case "float":
      return floatData(text("text"), field("value"), place);
    case "ratio":
      return ratioData(field("numerator"), field("denominator"), place);
    case "character":
      return printable({ kind, value: stringIn(field("value"), "value", place) }, place);
    case "bit-vector":
      return printable({ kind, bits: text("bits") }, place);
    case "pathname":
      return { kind, namestring: text("namestring") };
    case "vector":
      return { kind, items: items() };
    case "dotted": {
      const parts = items();
      if (parts.length === 0) throw refused(place, "is a dotted list without items");
      return dotted(parts, part(field("tail"), `${place}.tail`));
    }
    default:
      throw refused(place, `is ${KINDS[kind]}`);
  }
}

function stringIn(value: unknown, field: string, place: string): string {
  if (typeof value !== "string") throw refused(place, `has a ${field} that is no string`);
  return value;
}

function arrayIn(value: unknown, place: string): readonly unknown[] {
  if (!Array.isArray(value)) throw refused(place, "has items that are no array");
  return value;
}

/** Only a symbol that `sexp-parser` made is one: a copy is never sent as a symbol. */
function symbolData(value: object, place: string): LispSymbol {
  if (!isSymbolObject(value)) throw refused(place, "is a copy of a symbol");
  textData(`${value.name} ${value.package ?? ""}`, place);
  return value;
}

function isSymbolObject(value: object): value is LispSymbol {
  if (!("name" in value && typeof value.name === "string")) return false;
  const home = "package" in value && typeof value.package === "string" ? value.package : undefined;
  return intern(value.name, home, "internal" in value && value.internal === true) === value;
}

function floatData(text: string, value: unknown, place: string): Sexp {
  const datum = printable({ kind: "float", text, value: typeof value === "number" ? value : Number.NaN }, place);
  const meant = read(text);
  if (!isFloat(meant) || meant.value !== value) throw refused(place, "is a float whose text and value differ");
  if (/[dl]/i.test(text)) return isDenormal(value) ? denormalData(value) : datum;
  if (value !== 0 && Math.abs(value) < SMALLEST_SINGLE) {
    throw refused(place, `is ${text}, too small for a single-float`, "Send a double-float, such as 1e-40.");
  }
  return datum;
}

function isFloat(datum: Sexp): datum is LispFloat {
  return typeof datum === "object" && "kind" in datum && datum.kind === "float";
}

function ratioData(numerator: unknown, denominator: unknown, place: string): Sexp {
  if (typeof numerator !== "bigint" || typeof denominator !== "bigint") {
    throw refused(place, "is a ratio without bigints");
  }
  return printable({ kind: "ratio", numerator, denominator }, place);
}

/** `print` refuses what only looks like an atom. */
function printable(value: Atom, place: string): Sexp {
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
  "Send strings, finite numbers, bigints, booleans, null, arrays, maps, plain objects, and symbols, numbers, characters, vectors, pathnames and dotted lists of sexp-parser.";

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
  opaque: "syntax that only Lisp can read",
} as const;

function refuse(datum: Sexp, what: string): never {
  throw formless(datum, what);
}
