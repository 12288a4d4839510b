import { type Decoder, decode, keyword, list, NIL, quote, type Sexp, symbol, T } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";
import { lispFunction } from "../lisp/descriptor.js";
import { location, type SourceLocation } from "./location.js";

/** How severe a compiler note is, the most severe first. */
export const SEVERITIES = [
  "error",
  "read-error",
  "warning",
  "style-warning",
  "redefinition",
  "early-deprecation-warning",
  "late-deprecation-warning",
  "final-deprecation-warning",
  "note",
] as const;

/** One of `SEVERITIES`. */
export type Severity = (typeof SEVERITIES)[number];

/** A message of the compiler. */
export interface CompilerNote {
  readonly severity: Severity;
  readonly message: string;
  readonly location: SourceLocation;
  /** The form around the place, if the compiler gave it. */
  readonly sourceContext: string | undefined;
  /** Where manuals explain it, as Lisp data. */
  readonly references: readonly Sexp[];
}

/** The result of compiling. */
export interface Compilation {
  /** False if there was an error or a warning; style warnings and notes are no failure. */
  readonly succeeded: boolean;
  readonly notes: readonly CompilerNote[];
  readonly seconds: number;
  /** Whether the caller asked to load the result, which the caller then has to do. */
  readonly isToLoad: boolean;
  /** The compiled file. */
  readonly fasl: string | undefined;
}

const { any, boolean, map, nullable, optional, plist, real, record, string } = decode;

const note: Decoder<CompilerNote> = map(
  plist({
    severity: keywordOf(SEVERITIES),
    message: string,
    location,
    sourceContext: optional(nullable(string)),
    references: optional(decode.list(any)),
  }),
  ({ references = [], sourceContext, ...others }) => ({
    ...others,
    location: others.severity === "read-error" ? inBytes(others.location) : others.location,
    references,
    sourceContext,
  }),
);

/** SBCL gives the place of the reader in the file, in bytes (swank/sbcl.lisp, `compiler-note-location`). */
function inBytes(where: SourceLocation): SourceLocation {
  if (where.status === "unknown" || where.position.kind !== "offset") return where;
  return { ...where, position: { ...where.position, kind: "byte" } };
}

/** `(:compilation-result NOTES SUCCESSP SECONDS LOADP FASL)` (swank.lisp, `compilation-result`). */
export const compilation: Decoder<Compilation> = decode.tagged({
  "compilation-result": map(
    record({
      notes: nullable(decode.list(note)),
      succeeded: boolean,
      seconds: real,
      isToLoad: boolean,
      fasl: optional(nullable(string)),
    }),
    ({ notes = [], fasl, ...others }) => ({ ...others, notes, fasl }),
  ),
});

/** Where the text of a string comes from. */
export interface CodeOrigin {
  /** The name of its buffer or document. */
  readonly buffer: string;
  /** The position of its first character there, from 1. */
  readonly position?: number;
  /** The line and column of its first character: from 1, and from 0. */
  readonly line?: number;
  readonly column?: number;
  /** Its file on the image's machine. */
  readonly file?: string;
}

/** Optimization qualities to compile with, e.g. `{ debug: 3 }`. */
export type Policy = Readonly<Record<string, number>>;

const policyForm = (policy: Policy = {}): Sexp =>
  list(
    symbol("cl:list"),
    ...Object.entries(policy).map(([quality, value]) => list(symbol("cl:cons"), quote(symbol(`cl:${quality}`)), value)),
  );

/** `((:position 1) (:line 1 0))` */
const positionForm = ({ position = 1, line, column = 0 }: CodeOrigin): Sexp =>
  quote([[keyword("position"), position], ...(line === undefined ? [] : [[keyword("line"), line, column]])]);

/** `(swank:compile-string-for-emacs "CODE" "BUFFER" '((:position P) (:line L C)) "FILE" 'POLICY)`: compiles and loads all forms of a text. */
export const compileStringForEmacs = lispFunction({
  name: "swank:compile-string-for-emacs",
  encode: (code: string, origin: CodeOrigin, policy?: Policy) => [
    code,
    origin.buffer,
    positionForm(origin),
    origin.file ?? NIL,
    policyForm(policy),
  ],
  decode: compilation,
});

/** A text to compile, with its package. */
export interface CodeToCompile extends CodeOrigin {
  readonly code: string;
  readonly package: string;
}

/** `(swank:compile-multiple-strings-for-emacs '((CODE BUFFER PACKAGE POSITION FILE) ...) 'POLICY)`: the same for several texts. */
export const compileMultipleStringsForEmacs = lispFunction({
  name: "swank:compile-multiple-strings-for-emacs",
  encode: (texts: readonly CodeToCompile[], policy?: Policy) => [
    quote(
      texts.map(({ code, buffer, position = 1, file, ...text }) => [code, buffer, text.package, position, file ?? NIL]),
    ),
    policyForm(policy),
  ],
  decode: decode.list(compilation),
});

/** How a file is compiled. */
export interface FileCompilation {
  /** Only returned, as `isToLoad`. Default: false. */
  readonly load?: boolean;
  readonly policy?: Policy;
  /** Folder for the compiled file, ending in `/`. Default: SBCL's. */
  readonly faslFolder?: string;
}

/** `(swank:compile-file-for-emacs "FILE" LOADP :policy 'POLICY :fasl-directory "FOLDER/")`: compiles a file of the image's machine, and loads nothing; `SwankClient.compileFile` does. */
export const compileFileForEmacs = lispFunction({
  name: "swank:compile-file-for-emacs",
  encode: (file: string, { load = false, policy, faslFolder }: FileCompilation = {}) => [
    file,
    load ? T : NIL,
    ...(policy === undefined ? [] : [keyword("policy"), policyForm(policy)]),
    ...(faslFolder === undefined ? [] : [keyword("fasl-directory"), faslFolder]),
  ],
  decode: compilation,
});

/** `(swank:compile-file-if-needed "FILE" LOADP)`: compiles a file unless its compiled file is newer, and loads that. */
export const compileFileIfNeeded = lispFunction({
  name: "swank:compile-file-if-needed",
  encode: (file: string, load: boolean = true) => [file, load ? T : NIL],
  decode: nullable(compilation),
});
