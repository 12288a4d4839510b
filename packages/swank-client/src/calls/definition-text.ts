import { type Decoder, decode } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";
import { DEFINITION_KINDS } from "./definition.js";
import type { FileNotFound } from "./file-not-found.js";
import type { NameNotFound } from "./symbol-description.js";

const { integer, nullable, optional, plist, string } = decode;

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

/** A definition, its place and its text. */
export interface DefinitionText {
  /** `test`: a test or suite of a known framework. */
  readonly kind: (typeof SHOWN_KINDS)[number];
  /** As code in the package in which the name was looked up writes it; a method as `(METHOD NAME (CLASS))`. */
  readonly name: string;
  readonly state: TextState;
  /** At most 40000 characters; absent after the first 120000 characters of an answer. */
  readonly text?: string | undefined;
  /** Relative to the image's directory if it is below that, otherwise absolute. */
  readonly file?: string | undefined;
  /** Line and column of the form, from 1, in characters. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** The name of the evaluation or of the editor's buffer that the definition came from. */
  readonly origin?: string | undefined;
}

/** All definitions of a name. `no-such-method`: no method has these specializers; all methods are listed. */
export interface FoundDefinitions {
  readonly status: "found" | "no-such-method";
  /** As code in the package writes it. */
  readonly name: string;
  readonly definitions: readonly DefinitionText[];
  /** Number of definitions that are not listed. */
  readonly leftOut: number;
}

/** The definitions of a name, or the reason why there are none. */
export type ShownSource = FoundDefinitions | NameNotFound;

/** `(:kind KIND :name NAME :state STATE ...)` (lisp/code/show-source.lisp). */
export const definitionText: Decoder<DefinitionText> = plist({
  kind: keywordOf(SHOWN_KINDS),
  name: string,
  state: keywordOf(TEXT_STATES),
  text: optional(nullable(string)),
  file: optional(nullable(string)),
  line: optional(nullable(integer)),
  column: optional(nullable(integer)),
  origin: optional(nullable(string)),
});

/** Lines of a source file. */
export interface FoundLines {
  readonly status: "found";
  /** Relative to the image's directory if it is below that, otherwise absolute. */
  readonly file: string;
  /** Number of lines in the file. */
  readonly count: number;
  /** Number of the first line in `lines`, from 1. */
  readonly first: number;
  readonly lines: readonly string[];
  /** The first line of the top-level form that the line belongs to. */
  readonly definition: { readonly line: number; readonly text: string } | undefined;
  /** True if the file has changed since it was loaded. */
  readonly changed: boolean;
}

/** Lines of a source file, or the reason why there are none. */
export type ShownFile =
  | FoundLines
  /** The file is too large, or the image may not read it. */
  | { readonly status: "file-unreadable"; readonly file: string }
  | FileNotFound;
