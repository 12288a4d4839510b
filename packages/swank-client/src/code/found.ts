import { type Decoded, type Decoder, decode } from "sexp-parser";
import { check, question } from "../base/options.js";
import { effectiveMethods } from "../evaluation/report.js";
import { keywordOf } from "../runtime/function.js";

const { integer, list, nullable, optional, plist, record, string, tagged } = decode;

/** Milliseconds that the image has to answer a question about code. It may have to read many files. */
export const CODE_TIME = 60_000;

/** Names, matches or references returned by default. */
export const LIMIT = 50;

export const inPackage = {
  ...question,
  /** Name of the package in which the name is looked up, in upper or lower case. Default: the session's package. */
  package: check.text,
};

/** What may be wrong with a name that means nothing. */
export const misspelling = {
  /** What is wrong with an invisible or look-alike character in the name, and what to write instead. */
  oddCharacter: optional(nullable(string)),
};

const packageNotFound = record(
  {
    /** The name that was looked up: in upper case, unless it was written with bars. */
    package: string,
    /** Names of packages whose name or a nickname is similar. */
    similar: list(string),
    ...misspelling,
  },
  { status: "package-not-found" },
);

/** There is no such package. */
export interface PackageNotFound extends Decoded<typeof packageNotFound> {}

const symbolNotFound = record(
  {
    name: string,
    package: string,
    /** Symbols with that name in other packages or in other case, as code writes them; the likeliest first. */
    elsewhere: list(string),
    /** Number of further symbols that are not listed. */
    more: integer,
    ...misspelling,
  },
  { status: "symbol-not-found" },
);

/** The package has no such symbol. */
export interface SymbolNotFound extends Decoded<typeof symbolNotFound> {}

/** Why a name means nothing. */
export type NameNotFound = PackageNotFound | SymbolNotFound;

/** Decoders by tag of the replies to a question about a name that is not in the image (`call-with-named` in lisp/questions/describe.lisp). */
export const nameNotFound = { "package-not-found": packageNotFound, "symbol-not-found": symbolNotFound };

const missingFile = record(
  {
    file: string,
    /** Names of files that are like it. */
    similar: list(string),
    /** What the path names instead of a file: a folder, or a pipe or device. */
    reason: nullable(keywordOf(["folder", "special"])),
  },
  { status: "file-not-found" },
);

/** There is no such file. */
export interface FileNotFound extends Decoded<typeof missingFile> {}

/** The decoder by tag of the reply to a question about a file that is not there (`missing-file` in lisp/questions/show.lisp). */
export const fileNotFound = { "file-not-found": missingFile };

const wrongPattern = record(
  {
    /** What is wrong, a sentence without its full stop. */
    reason: string,
  },
  { status: "bad-pattern" },
);

/** The pattern is no regular expression. */
export interface BadPattern extends Decoded<typeof wrongPattern> {}

/** The decoder by tag of the reply to a search for a text that is no regular expression (`with-searcher` in lisp/text/regex.lisp). */
export const badPattern = { "bad-pattern": wrongPattern };

/** What a symbol can name. */
export const NAMED_KINDS = [
  "function",
  "generic-function",
  "macro",
  "special-operator",
  "variable",
  "constant",
  "symbol-macro",
  "class",
  "structure",
  "condition",
  "built-in-class",
  "type",
  "setf-expander",
] as const;

/** One of `NAMED_KINDS`. */
export type NamedKind = (typeof NAMED_KINDS)[number];

/** Kinds of definitions, in the words of Common Lisp. */
export const DEFINITION_KINDS = [
  "function",
  "generic-function",
  "method",
  "macro",
  "compiler-macro",
  "setf-expander",
  "variable",
  "constant",
  "symbol-macro",
  "class",
  "structure",
  "condition",
  "type",
  "method-combination",
  "package",
] as const;

/** One of `DEFINITION_KINDS`. */
export type DefinitionKind = (typeof DEFINITION_KINDS)[number];

/** Kinds of definitions that have a text. */
export const SOURCE_KINDS = [...DEFINITION_KINDS, "special-operator"] as const;

/** Kinds of definitions that a file can show: those with a text, and tests of known frameworks. */
export const SHOWN_KINDS = [...SOURCE_KINDS, "test"] as const;

/**
 * What the text of a definition is.
 *
 * - `loaded`: that of the file, which is as it was loaded.
 * - `as-loaded`: that of the file when it was loaded; the file has changed since, and has another text or none for this definition.
 * - `same-form`: that of the file, which has changed since it was loaded, but not in this form.
 * - `same-length`: that of the file, which has changed since it was loaded, but not in the length of this form.
 * - `changed`: that of the file, which has changed since it was loaded; the text that was loaded is not recorded.
 * - `unknown`: that of the file; when it was loaded is not recorded.
 * - `recorded`: the form that Lisp has recorded, because the file has changed, cannot be read, or there is none.
 * - `evaluated`: that of a form that a client has evaluated.
 * - `gone`: none; the file has no such definition any more.
 * - `unreadable`: none; the image cannot read the file.
 * - `unrecorded`: none; Lisp does not know where the definition came from.
 */
export const TEXT_STATES = [
  "loaded",
  "as-loaded",
  "same-form",
  "same-length",
  "changed",
  "unknown",
  "recorded",
  "evaluated",
  "gone",
  "unreadable",
  "unrecorded",
] as const;

/** One of `TEXT_STATES`. */
export type TextState = (typeof TEXT_STATES)[number];

/** Where a form of a program is. */
export const formPlace = {
  /** Relative to the image's directory if it is below that, otherwise absolute. */
  file: optional(nullable(string)),
  /** Line and column of the form, from 1, in characters. */
  line: optional(nullable(integer)),
  column: optional(nullable(integer)),
};

/** Where a definition came from. */
export const definitionPlace = {
  ...formPlace,
  /** The name of the evaluation or of the editor's buffer that the definition came from. */
  origin: optional(nullable(string)),
};

const shownDefinition = plist({
  /** `test`: a test or suite of a known framework. */
  kind: keywordOf(SHOWN_KINDS),
  /** As code in the package in which the name was looked up writes it; a method as `(METHOD NAME (CLASS))`. */
  name: string,
  state: keywordOf(TEXT_STATES),
  /** At most 40000 characters; absent after the first 120000 characters of an answer. */
  text: optional(nullable(string)),
  ...definitionPlace,
});

/** A definition, its place and its text. */
export interface DefinitionText extends Decoded<typeof shownDefinition> {}

/** `(:kind KIND :name NAME :state STATE ...)` (lisp/questions/show.lisp). */
export const definitionText: Decoder<DefinitionText> = shownDefinition;

/** `(:methods ENTRIES)` or `(:unknown REASON)` (lisp/questions/describe.lisp). */
export const methodsCalled = tagged({
  methods: record({ methods: effectiveMethods }, { kind: "methods" }),
  unknown: record({ reason: string }, { kind: "unknown" }),
});

/** The methods that a call of a generic function runs, in order, or the reason why they are unknown. */
export type MethodsCalled = Decoded<typeof methodsCalled>;
