import { type Decoder, decode } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";
import { type Change, changeFields, type FileState, fileState } from "./change.js";
import { type CodeNote, codeNote } from "./compiled-code.js";
import { type FileNotFound, fileNotFound } from "./file-not-found.js";

const { integer, list, map, nullable, plist, string, tagged, tuple } = decode;

/**
 * What became of a form that has changed in its file.
 *
 * - `loaded`: loaded.
 * - `failed`: not loaded, because it cannot be compiled; `notes` say why. No form after it was loaded.
 * - `pending`: not loaded, because an earlier one failed.
 * - `skipped`: not loaded, because the restart SKIP-FORM left it out when it had stopped.
 * - `structure`, `constant`: not loaded, because code that is compiled contains the old one.
 * - `reader`: not loaded, because it changes how the file is read.
 * - `package`: not loaded, because it or an `in-package` form before it changes the package of forms that have not changed.
 * - `deleted`: the file no longer has the form; its definition is still in the image.
 */
export const FORM_OUTCOMES = [
  "loaded",
  "failed",
  "pending",
  "skipped",
  "structure",
  "constant",
  "reader",
  "package",
  "deleted",
] as const;

/** One of `FORM_OUTCOMES`. */
export type FormOutcome = (typeof FORM_OUTCOMES)[number];

/**
 * What is left to do after a form was loaded.
 *
 * - `old-expansion`: code that was compiled with the old definition keeps it until it is loaded again.
 * - `value-kept`: the variable keeps its value, since `defvar` sets only unbound ones.
 * - `package-kept`: the package keeps what the form no longer names, and code that was read keeps its symbols.
 */
export const FORM_REMARKS = ["old-expansion", "value-kept", "package-kept"] as const;

/** A form that has changed in its file, and what became of it. */
export interface ChangedForm extends Change {
  readonly outcome: FormOutcome;
  readonly remark: (typeof FORM_REMARKS)[number] | undefined;
  /** The functions that were compiled with the old macro, inline function, structure or constant, as far as they are known. */
  readonly users: readonly string[];
}

/** What became of the forms that have changed. */
export interface LoadedChanges {
  /**
   * `incomplete`: a file cannot be read to its end, or a form that has changed is not in the image. `files` and the `outcome` of each form say
   * which, and `notes` why.
   */
  readonly status: "loaded" | "incomplete";
  /** In the order in which they were loaded. */
  readonly forms: readonly ChangedForm[];
  /** The files that have changed, or about which this is not known. */
  readonly files: readonly FileState[];
  /** Warnings and errors of the compiler and of the code, with their places. */
  readonly notes: readonly CodeNote[];
  /** Number of further notes. */
  readonly leftOut: number;
}

/** The decoded value, with the texts of files that cannot be read. */
export interface LoadedChangesReply {
  readonly changes: LoadedChanges | FileNotFound;
  readonly unreadable: ReadonlyMap<string, string>;
}

/** `(:outcome OUTCOME :remark REMARK ...)` */
const changedForm: Decoder<ChangedForm> = plist({
  outcome: keywordOf(FORM_OUTCOMES),
  remark: nullable(keywordOf(FORM_REMARKS)),
  users: list(string),
  ...changeFields,
});

function isComplete(forms: readonly ChangedForm[], files: readonly FileState[]): boolean {
  const isDone = ({ outcome }: ChangedForm) => outcome === "loaded" || outcome === "deleted" || outcome === "skipped";
  return forms.every(isDone) && files.every(({ state }) => state !== "unreadable");
}

/** Decodes the value of `load-changes` (lisp/code/load-changes.lisp). */
export const loadedChanges: Decoder<LoadedChangesReply> = tagged({
  loads: map(
    tuple(list(changedForm), list(fileState), list(codeNote), integer, list(tuple(string, string))),
    ([forms, files, notes, leftOut, texts]): LoadedChangesReply => ({
      changes: { status: isComplete(forms, files) ? "loaded" : "incomplete", forms, files, notes, leftOut },
      unreadable: new Map(texts),
    }),
  ),
  "file-not-found": map(
    fileNotFound["file-not-found"],
    (changes): LoadedChangesReply => ({ changes, unreadable: new Map() }),
  ),
});
