import { type Decoder, decode } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";
import { SOURCE_KINDS } from "./definition-text.js";
import type { FileNotFound } from "./file-not-found.js";
import type { NameNotFound } from "./symbol-description.js";

const { boolean, integer, map, nullable, optional, plist, string, tuple } = decode;

/**
 * How the image and a file differ.
 *
 * - `image-only`: evaluated; no file of the program defines it.
 * - `differs`: evaluated; the file has another text.
 * - `conflict`: evaluated, and the file's form has changed since it was loaded, to another text.
 * - `changed`: the file's form has changed since it was loaded.
 * - `maybe-changed`: the file has changed since it was loaded, but not the length of this form; the text that was loaded is not recorded.
 * - `new`: the file's form was not there when the file was loaded.
 * - `deleted`: still in the image; the file has no such form any more.
 * - `file-only`: the file's form was loaded by this client, and the image no longer has its definition.
 */
export const CHANGE_STATES = [
  "image-only",
  "differs",
  "conflict",
  "changed",
  "maybe-changed",
  "new",
  "deleted",
  "file-only",
] as const;

/** One of `CHANGE_STATES`. */
export type ChangeState = (typeof CHANGE_STATES)[number];

/** A difference between the image and its files. */
export interface Change {
  readonly state: ChangeState;
  /** Absent if the form is no definition that is known. */
  readonly kind?: (typeof SOURCE_KINDS)[number] | undefined;
  /** As code in the session's package writes it; for a form that is no definition, its first line. */
  readonly name: string;
  /** The text in the image, or the one that was loaded, as far as it is known. */
  readonly text?: string | undefined;
  /** The text in the file. */
  readonly fileText?: string | undefined;
  /** True if this client evaluated the definition. */
  readonly fromClient: boolean;
  /** Relative to the image's directory if it is below that, otherwise absolute. */
  readonly file?: string | undefined;
  /** Line and column of the form in the file, from 1, in characters. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/**
 * How a file was compared: `compared` with the text that was loaded; `guessed` by the lengths of its forms, because that text is not
 * recorded; `failed`: not compared, because this client has begun to load it and it was never loaded to its end; `unloaded`: not compared,
 * because nothing shows that it was ever loaded; `undated`: not compared, because its date does not show whether it has changed since it was
 * loaded; `unreadable`: not compared, because it cannot be read to its end.
 */
export const FILE_STATES = ["compared", "guessed", "failed", "unloaded", "undated", "unreadable"] as const;

/** How a file was compared. */
export interface FileState {
  readonly file: string;
  readonly state: (typeof FILE_STATES)[number];
}

/** A global variable that this client's forms have assigned, with its value now. */
export interface AssignedVariable {
  readonly name: string;
  readonly value: string;
  /** The file that defines the variable, if one does. */
  readonly file?: string | undefined;
}

/** The differences between the image and its files. */
export interface FoundChanges {
  readonly status: "found";
  readonly changes: readonly Change[];
  /** Number of changes that are not listed. */
  readonly leftOut: number;
  /** The files that have changed, or about which this is not known. */
  readonly files: readonly FileState[];
  /** The global variables that this client's forms have assigned. */
  readonly assigned: readonly AssignedVariable[];
}

/** The differences between the image and its files, or the reason why there are none. */
export type Changes = FoundChanges | FileNotFound;

/**
 * What became of a definition that was to be saved.
 *
 * - `save`: it would be written; this was a dry run.
 * - `saved`: written.
 * - `no-file`: no file defines it, and none was named with its name.
 * - `no-text`: Lisp has not recorded its text.
 * - `file-changed`: its form in the file has changed since it was loaded, or the file changed while it was written.
 * - `defined`: the file has a form of it, but the image did not load that; it was not replaced. The place is that of the form.
 * - `unreadable`: not all of the file can be read, so a form of it may be there. The place is that of the first form that cannot be read.
 * - `ambiguous`: the file has several such forms.
 * - `conditional`: `#+` or `#-` is before the form in the file.
 * - `other-package`: it was evaluated in another package than that of the place in the file.
 * - `other-syntax`: it was evaluated with another readtable than the one that the file sets before the place, or that is not known.
 * - `encoding`: the file's encoding cannot represent it.
 * - `binary`: the file is not a text.
 * - `hard-links`: the file has several names, and writing it at once would separate them.
 * - `being-edited`: `editor` has unsaved edits of the file in Emacs.
 * - `read-only`: the mode of the file forbids it, or the image's user may not write it.
 * - `unwritable`: the file could not be written with its owner and mode, or the disk is full; it is as it was.
 */
export const SAVE_OUTCOMES = [
  "save",
  "saved",
  "no-file",
  "no-text",
  "file-changed",
  "defined",
  "unreadable",
  "ambiguous",
  "conditional",
  "other-package",
  "other-syntax",
  "encoding",
  "binary",
  "hard-links",
  "being-edited",
  "read-only",
  "unwritable",
] as const;

/** One of `SAVE_OUTCOMES`. */
export type SaveOutcome = (typeof SAVE_OUTCOMES)[number];

/** A definition that was to be saved; `text` replaces `fileText` or, if there is none, is added at the place. */
export interface Save extends Change {
  readonly outcome: SaveOutcome;
  /** Who has unsaved edits of the file, as `user@host.process`. */
  readonly editor?: string | undefined;
}

/** What became of the definitions, or the reason why there is no answer. `undefined`: nothing is defined by the name, as code writes it. */
export type Saves =
  | { readonly status: "found"; readonly saves: readonly Save[] }
  | { readonly status: "undefined"; readonly name: string }
  | FileNotFound
  | NameNotFound;

export const changeFields = {
  state: keywordOf(CHANGE_STATES),
  kind: optional(nullable(keywordOf(SOURCE_KINDS))),
  name: string,
  text: optional(nullable(string)),
  fileText: optional(nullable(string)),
  fromClient: boolean,
  file: optional(nullable(string)),
  line: optional(nullable(integer)),
  column: optional(nullable(integer)),
};

/** `(:state STATE :kind KIND ...)` (lisp/code/list-changes.lisp). */
export const change: Decoder<Change> = plist(changeFields);

/** `(:outcome OUTCOME :state STATE ...)` (lisp/code/save-changes.lisp). */
export const save: Decoder<Save> = plist({
  outcome: keywordOf(SAVE_OUTCOMES),
  editor: optional(nullable(string)),
  ...changeFields,
});

/** `(FILE STATE)` */
export const fileState: Decoder<FileState> = map(tuple(string, keywordOf(FILE_STATES)), ([file, state]) => ({
  file,
  state,
}));
