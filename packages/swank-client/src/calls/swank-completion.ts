import { type Decoder, decode, keyword, quote, type Sexp, symbol } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { completionNames } from "./simple-completions.js";

const { any, boolean, integer, list, map, nullable, oneOf, real, record, string, tuple } = decode;

/** Completions of a prefix. */
export interface Completions {
  readonly names: readonly string[];
  /** The longest text that all of them allow. */
  readonly longest: string;
}

/** Swank sends the longest text only up to 2.31. */
const completionList: Decoder<Completions> = map(completionNames, (names) => ({ names, longest: commonPrefix(names) }));

function commonPrefix([first = "", ...others]: readonly string[]): string {
  let length = first.length;
  while (!others.every((other) => other.startsWith(first.slice(0, length)))) length -= 1;
  return first.slice(0, length);
}

/** `(swank:completions "PREFIX" "PACKAGE")`: symbols with compound prefixes: `m-v-b` finds `multiple-value-bind`. */
export const completions = lispFunction({
  name: "swank:completions",
  contrib: "swank-c-p-c",
  encode: (prefix: string, packageName: string) => [prefix, packageName],
  decode: completionList,
});

/** `(swank:completions-for-character "PREFIX")`: names of characters, as after `#\`. */
export const completionsForCharacter = lispFunction({
  name: "swank:completions-for-character",
  contrib: "swank-c-p-c",
  encode: (prefix: string) => [prefix],
  decode: completionList,
});

/** `(swank:completions-for-keyword "PREFIX" 'RAW-FORM)`: keyword arguments of the call around the cursor. See `autodoc` for `rawForm`. */
export const completionsForKeyword = lispFunction({
  name: "swank:completions-for-keyword",
  contrib: "swank-arglists",
  encode: (prefix: string, rawForm: RawForm) => [prefix, quote(rawFormData(rawForm))],
  decode: nullable(completionList),
});

/** A symbol that a fuzzy completion found. */
export interface FuzzyCompletion {
  readonly name: string;
  /** Higher is better. `undefined` since 2.32, which sends only the order. */
  readonly score: number | undefined;
  /** Pieces of the name that matched: position and text. */
  readonly chunks: readonly { readonly position: number; readonly text: string }[];
  /** Letters for what the symbol means: `b` bound, `f` function, `g` generic function, `c` class, `t` type, `m` macro, `s` special, `p` package. */
  readonly flags: string;
}

/** Fuzzy completions, the best first. */
export interface FuzzyCompletions {
  readonly completions: readonly FuzzyCompletion[];
  /** True if the time limit ended the search. */
  readonly isTimedOut: boolean;
}

const chunks = map(nullable(list(record({ position: integer, text: string }))), (found = []) => found);

/** `(NAME SCORE CHUNKS FLAGS)` up to 2.31, `(NAME FLAGS SYMBOL CHUNKS)` since 2.32. */
const fuzzyCompletion: Decoder<FuzzyCompletion> = oneOf(
  record({ name: string, score: oneOf(real, map(string, Number)), chunks, flags: string }),
  map(record({ name: string, flags: string, symbol: nullable(string), chunks }), ({ symbol: _, ...found }) => {
    return { ...found, score: undefined };
  }),
);

/** How much fuzzy completion may find, and how long it may take. */
export interface FuzzyOptions {
  /** Default: 50. */
  readonly limit?: number;
  /** Default: 1500. */
  readonly milliseconds?: number;
}

/** `(swank:fuzzy-completions "TEXT" "PACKAGE" :limit N :time-limit-in-msec MS)`: symbols whose names have the text's letters in order. */
export const fuzzyCompletions = lispFunction({
  name: "swank:fuzzy-completions",
  contrib: "swank-fuzzy",
  encode: (text: string, packageName: string, { limit = 50, milliseconds = 1500 }: FuzzyOptions = {}) => [
    text,
    packageName,
    keyword("limit"),
    limit,
    keyword("time-limit-in-msec"),
    milliseconds,
  ],
  decode: map(
    tuple(nullable(list(fuzzyCompletion)), boolean),
    ([found = [], isTimedOut]): FuzzyCompletions => ({ completions: found, isTimedOut }),
  ),
});

/** A call that is being typed: texts, nested lists, and `null` for the cursor. */
export type RawForm = readonly (string | null | RawForm)[];

const CURSOR = symbol("swank::%cursor-marker%");

function rawFormData(form: RawForm): Sexp {
  return form.map((item) => (item === null ? CURSOR : typeof item === "string" ? item : rawFormData(item)));
}

const noArglist = keyword("not-available");

/** The arglist at the cursor, with `===> x <===` around the argument there; `undefined` if it is not known. */
const arglist: Decoder<string | undefined> = map(
  oneOf(
    tuple(oneOf(decode.literal(noArglist), string), any),
    map(decode.literal(noArglist), (none) => [none] as const),
  ),
  ([text]) => (typeof text === "string" ? text : undefined),
);

/** `(swank:autodoc 'RAW-FORM :print-right-margin N)`: the arglist of the call around the cursor, `["mapcar", "f", null]`. */
export const autodoc = lispFunction({
  name: "swank:autodoc",
  contrib: "swank-arglists",
  encode: (rawForm: RawForm, margin: number = 80): readonly Sexp[] => [
    quote(rawFormData(rawForm)),
    keyword("print-right-margin"),
    margin,
  ],
  decode: arglist,
});

/** `(swank:complete-form 'RAW-FORM)`: the arguments that the call still needs, as a template; `undefined` if they are not known. */
export const completeForm = lispFunction({
  name: "swank:complete-form",
  contrib: "swank-arglists",
  encode: (rawForm: RawForm) => [quote(rawFormData(rawForm))],
  decode: oneOf(
    string,
    map(decode.literal(noArglist), () => undefined),
  ),
});
