import { type Decoder, decode } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";
import { SHOWN_KINDS, TEXT_STATES, type TextState } from "./definition-text.js";
import type { NameNotFound } from "./symbol-description.js";

const { integer, list, map, nullable, optional, plist, string, tuple } = decode;

/**
 * What to find.
 *
 * - `callers`, `callees`: functions that call the function, and functions that it calls.
 * - `references`, `bindings`, `assignments`: code that uses, binds or assigns the special variable.
 * - `macro-uses`: code in which the macro was expanded.
 * - `specializers`: methods that specialize on the class.
 * - `subclasses`: all classes that inherit from the class.
 */
export const REFERENCE_KINDS = [
  "callers",
  "callees",
  "references",
  "bindings",
  "assignments",
  "macro-uses",
  "specializers",
  "subclasses",
] as const;

/** One of `REFERENCE_KINDS`. */
export type ReferenceKind = (typeof REFERENCE_KINDS)[number];

const USER_KINDS = [...SHOWN_KINDS, "code"] as const;

/** A definition that refers to a name, or that the name leads to. */
export interface Reference {
  /** `code`: code outside of definitions. */
  readonly kind: (typeof USER_KINDS)[number];
  /** As code in the package in which the name was looked up writes it. */
  readonly name: string;
  /** What `head` is from. */
  readonly state: TextState;
  /** The first line of the form. */
  readonly head: string | undefined;
  /** At most ten lines in which the form has the name, the first line of the form left out. */
  readonly uses: readonly number[];
  /** Relative to the image's directory if it is below that, otherwise absolute. */
  readonly file?: string | undefined;
  /** Line and column of the form, from 1, in characters. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** The name of the evaluation or of the editor's buffer that the definition came from. */
  readonly origin?: string | undefined;
}

/**
 * Why there may be no references.
 *
 * - `interpreted`: functions of the package were evaluated in `:interpret` mode. `no-data`: no function of the package has cross references.
 * - `is-interpreted`: the function itself was evaluated in `:interpret` mode.
 * - `inline`, `constant-inlined`: the compiler may have put the function or value in its place.
 * - `constant`: it cannot be bound or assigned.
 * - the others: what the name is, or is not.
 */
export const NO_REFERENCES = [
  "interpreted",
  "no-data",
  "is-interpreted",
  "inline",
  "constant-inlined",
  "constant",
  "no-function",
  "function",
  "macro",
  "no-macro",
  "special-operator",
  "no-variable",
  "symbol-macro",
  "type",
  "no-class",
  "class",
  "variable",
] as const;

/** A reason why there may be no references. */
export interface NoReferences {
  readonly reason: (typeof NO_REFERENCES)[number];
  /** For `interpreted` and `no-data`: the package, and the number of these functions in it. */
  readonly package: string | undefined;
  readonly functions: number | undefined;
}

/** What refers to a name. */
export interface FoundReferences {
  readonly status: "found";
  /** As code in the package writes it. */
  readonly name: string;
  /** Those of the page, ordered by file and position: files below the image's directory first, evaluated code last. */
  readonly references: readonly Reference[];
  /** Number of all references except those of Lisp itself, and of the files that they are in. */
  readonly count: number;
  readonly files: number;
  /** Number of references of SBCL, Swank and this library, and the names of some. */
  readonly lispCount: number;
  readonly lispNames: readonly string[];
  /** Why there are none; empty if there are some, or if the reason is not known. */
  readonly reasons: readonly NoReferences[];
}

/** What refers to a name, or the reason why the name was not found. */
export type References = FoundReferences | NameNotFound;

/** The fields of `REFERENCE-ENTRY` (lisp/code/find-references.lisp). */
export const referenceFields = {
  kind: keywordOf(USER_KINDS),
  /** As code in the package writes it. */
  name: string,
  state: keywordOf(TEXT_STATES),
  head: nullable(string),
  uses: list(integer),
  file: optional(nullable(string)),
  line: optional(nullable(integer)),
  column: optional(nullable(integer)),
  origin: optional(nullable(string)),
};

const reference: Decoder<Reference> = plist(referenceFields);

const reason: Decoder<NoReferences> = map(
  tuple(keywordOf(NO_REFERENCES), nullable(string), nullable(integer)),
  ([name, packageName, functions]) => ({ reason: name, package: packageName, functions }),
);

/** `(NAME (ENTRY ...) COUNT FILES LISP-COUNT (NAME ...) (REASON ...))` (lisp/code/find-references.lisp). */
export const foundReferences: Decoder<FoundReferences> = map(
  tuple(string, list(reference), integer, integer, integer, list(string), list(reason)),
  ([name, references, count, files, lispCount, lispNames, reasons]) => ({
    status: "found",
    name,
    references,
    count,
    files,
    lispCount,
    lispNames,
    reasons,
  }),
);
