import { type Decoder, decode } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";
import type { FileNotFound } from "./file-not-found.js";
import type { PackageNotFound } from "./symbol-description.js";

const { integer, map, nullable, optional, plist, string, tuple } = decode;

/** How bad a note of the compiler is. `read-error`: the form cannot be read, and none after it was compiled. */
export const SEVERITIES = ["read-error", "error", "warning", "style-warning", "note"] as const;

/** What the compiler says about a form. */
export interface CodeNote {
  readonly severity: (typeof SEVERITIES)[number];
  readonly message: string;
  /** Relative to the image's directory if it is below that; absent for code that was sent. */
  readonly file?: string | undefined;
  /** Line and column of the form, from 1; absent if the compiler does not know them. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** The first line of the form, from its column on. */
  readonly form?: string | undefined;
  /** The definition that the form is in, e.g. `(DEFUN AREA)`. */
  readonly definition?: string | undefined;
  /** Lines whose parentheses are probably wrong. */
  readonly suspects?: readonly { readonly line: number; readonly text: string }[];
}

/** An error that ended compiling or loading, with the place of the form that caused it as far as that is known. */
export interface CodeFailure {
  readonly type: string;
  readonly message: string;
  /** Relative to the image's directory if it is below that; absent for code that was sent. */
  readonly file?: string | undefined;
  /** Line and column of the form, from 1. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** The first line of the form, from its column on. */
  readonly form?: string | undefined;
}

/** The result of compiling code, or the reason why it was not compiled. */
export type Compiled =
  | {
      readonly status: "compiled";
      /** Relative to the image's directory if it is below that; absent for code that was sent. */
      readonly file: string | undefined;
      /** In the order in which the compiler gave them. */
      readonly notes: readonly CodeNote[];
      /** Number of further notes. */
      readonly leftOut: number;
      /** True if there was an error. Nothing is loaded then. */
      readonly failed: boolean;
      readonly loaded: boolean;
      /** The error that ended loading; what came before it stays loaded. */
      readonly loadError: CodeFailure | undefined;
    }
  /** An error that the compiler does not report itself, such as an exhausted stack. */
  | ({ readonly status: "failed" } & CodeFailure)
  | FileNotFound
  | PackageNotFound;

const place = plist({
  file: optional(nullable(string)),
  line: optional(integer),
  column: optional(integer),
  form: optional(string),
});

/** `(TYPE MESSAGE (:file FILE :line LINE ...))` (lisp/code/compile-code.lisp). */
export const codeFailure: Decoder<CodeFailure> = map(tuple(string, string, place), ([type, message, where]) => ({
  type,
  message,
  ...where,
}));

/** `(:severity SEVERITY :message MESSAGE ...)` (lisp/code/notes.lisp). */
export const codeNote: Decoder<CodeNote> = plist({
  severity: keywordOf(SEVERITIES),
  message: string,
  file: optional(nullable(string)),
  line: optional(integer),
  column: optional(integer),
  form: optional(string),
  definition: optional(nullable(string)),
});
