import { type Decoded, decode, keyword, quote, type Sexp, symbol } from "sexp-parser";
import { call, callsWith, oneText } from "./call.js";

const { any, boolean, integer, list, literal, map, nullable, oneOf, real, record, string, tuple, tupleRest } = decode;

/** Up to 2.31: `(NAMES COMMON-PREFIX)`, the names `nil` when there are none; since 2.32 a list of `(NAME . DETAILS)`, or of names. */
const names = oneOf(
  map(tuple(list(string), string), ([found]) => found),
  list(
    oneOf(
      string,
      map(tupleRest([string], any), ([name]) => name),
    ),
  ),
);

/** Completions of a prefix. */
export interface Completions {
  readonly names: readonly string[];
  /** The longest text that all of them allow. */
  readonly longest: string;
}

/** Swank sends the longest text only up to 2.31. */
const completions = map(names, (found): Completions => ({ names: found, longest: commonPrefix(found) }));

function commonPrefix([first = "", ...others]: readonly string[]): string {
  let length = first.length;
  while (!others.every((other) => other.startsWith(first.slice(0, length)))) length -= 1;
  return first.slice(0, length);
}

const fuzzyChunk = record({ position: integer, text: string });

/** A piece of a name that matched. */
export interface FuzzyChunk extends Decoded<typeof fuzzyChunk> {}

const fuzzyCompletion = record({
  name: string,
  /** Higher is better. `undefined` since 2.32, which sends only the order. */
  score: oneOf(real, map(string, Number), decode.nil),
  chunks: list<FuzzyChunk>(fuzzyChunk),
  /** Letters for what the symbol means: `b` bound, `f` function, `g` generic function, `c` class, `t` type, `m` macro, `s` special, `p` package. */
  flags: string,
});

/** A symbol that a fuzzy completion found. */
export interface FuzzyCompletion extends Decoded<typeof fuzzyCompletion> {}

/** `(NAME FLAGS SYMBOL CHUNKS)`, since 2.32. */
const unscored = map(
  tuple(string, string, any, list(fuzzyChunk)),
  ([name, flags, , chunks]): FuzzyCompletion => ({ name, score: undefined, chunks, flags }),
);

const fuzzyCompletions = record({
  /** The best first. */
  completions: list(oneOf<[FuzzyCompletion, FuzzyCompletion]>(fuzzyCompletion, unscored)),
  /** True if the time limit ended the search. */
  isTimedOut: boolean,
});

/** Fuzzy completions. */
export interface FuzzyCompletions extends Decoded<typeof fuzzyCompletions> {}

/** How much fuzzy completion may find, and how long it may take. */
export interface FuzzyOptions {
  /** Default: 50. */
  readonly limit?: number;
  /** Default: 1500. */
  readonly milliseconds?: number;
}

/** A call that is being typed: texts, nested lists, and `null` for the cursor. */
export type RawForm = readonly (string | null | RawForm)[];

const CURSOR = symbol("swank::%cursor-marker%");

function rawFormData(form: RawForm): Sexp {
  return form.map((item) => (item === null ? CURSOR : typeof item === "string" ? item : rawFormData(item)));
}

const notAvailable = map(literal(keyword("not-available")), () => undefined);

const arglist = oneOf(
  map(tuple(oneOf(notAvailable, string), any), ([text]) => text),
  notAvailable,
);

const COMPLETIONS = "`client.completions` completes the beginning of a name.";

const ofCompoundPrefixes = callsWith({ contrib: "swank-c-p-c", instead: COMPLETIONS });
const ofArglists = callsWith({
  contrib: "swank-arglists",
  instead: "`client.describeSymbol` has the arguments of functions and macros.",
});

/** Completing what is being typed. */
export const completion = {
  /**
   * `(swank:simple-completions "PREFIX" "PACKAGE")`: the symbols that begin with the prefix, as code in that package writes them: `car`,
   * `cl:car`, `:key`. Lower case, unless the readtable says otherwise. Unsorted in some versions. An unknown package means the current one.
   */
  simpleCompletions: call("swank:simple-completions", names, (prefix: string, packageName: string) => [
    prefix,
    packageName,
  ]),
  /** `(swank:completions "PREFIX" "PACKAGE")`: symbols with compound prefixes: `m-v-b` finds `multiple-value-bind`. */
  completions: ofCompoundPrefixes("swank:completions", completions, (prefix: string, packageName: string) => [
    prefix,
    packageName,
  ]),
  /** `(swank:completions-for-character "PREFIX")`: names of characters, as after `#\`. */
  completionsForCharacter: ofCompoundPrefixes("swank:completions-for-character", completions, oneText),
  /** `(swank:completions-for-keyword "PREFIX" 'RAW-FORM)`: keyword arguments of the call around the cursor. See `autodoc` for `rawForm`. */
  completionsForKeyword: ofArglists(
    "swank:completions-for-keyword",
    nullable(completions),
    (prefix: string, rawForm: RawForm) => [prefix, quote(rawFormData(rawForm))],
  ),
  /**
   * `(swank:fuzzy-completions "TEXT" "PACKAGE" :limit N :time-limit-in-msec MS)`: symbols whose names have the text's letters in order.
   */
  fuzzyCompletions: callsWith({ contrib: "swank-fuzzy", instead: COMPLETIONS })<
    [text: string, packageName: string, options?: FuzzyOptions],
    FuzzyCompletions
  >("swank:fuzzy-completions", fuzzyCompletions, (text, packageName, { limit = 50, milliseconds = 1500 } = {}) => [
    text,
    packageName,
    keyword("limit"),
    limit,
    keyword("time-limit-in-msec"),
    milliseconds,
  ]),
  /**
   * `(swank:autodoc 'RAW-FORM :print-right-margin N)`: the arglist of the call around the cursor, `["mapcar", "f", null]`, with `===> x <===`
   * around the argument there; `undefined` if it is not known.
   */
  autodoc: ofArglists("swank:autodoc", arglist, (rawForm: RawForm, margin: number = 80) => [
    quote(rawFormData(rawForm)),
    keyword("print-right-margin"),
    margin,
  ]),
  /** `(swank:complete-form 'RAW-FORM)`: the arguments that the call still needs, as a template; `undefined` if they are not known. */
  completeForm: ofArglists("swank:complete-form", oneOf(string, notAvailable), (rawForm: RawForm) => [
    quote(rawFormData(rawForm)),
  ]),
};
