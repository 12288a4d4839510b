import { print, read } from "sexp-parser";
import { checkOptions, checkText } from "../base/check-arguments.js";
import type { FileNotFound } from "../calls/file-not-found.js";
import { type LoadedChanges, type LoadedChangesReply, loadedChanges } from "../calls/loaded-changes.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import { CHANGES_OPTIONS, type ChangesOptions } from "./code-options.js";
import { locatedNotes } from "./unreadable-notes.js";

/** Code that loads the forms of files that have changed. It is evaluated as any other code, so that it can stop, print and be interrupted. */
export interface ChangesCode {
  /** Evaluate this with `valuesAs: "data"`. */
  readonly code: string;
  /**
   * What became of the forms, from the printed first value.
   *
   * @throws DecodeError, ReadError if that is not a value of `code`.
   */
  results(value: string): LoadedChanges | FileNotFound;
}

/** Loads the module that loads changes, and returns code that calls it. */
export async function changesCode(lisp: LispRunner, options: ChangesOptions): Promise<ChangesCode> {
  checkOptions("loadChanges", options, CHANGES_OPTIONS);
  const { file, signal } = options;
  if (file !== undefined) checkText("file", file);
  const operator = await lisp.loadedOperator("load-changes", "code", signal);
  return {
    code: `(${operator} ${file === undefined ? "nil" : print(file)})`,
    results: (value) => located(loadedChanges(read(value))),
  };
}

function located({ changes, unreadable }: LoadedChangesReply): LoadedChanges | FileNotFound {
  if (changes.status === "file-not-found") return changes;
  let { notes } = changes;
  for (const [file, text] of unreadable) notes = locatedNotes(notes, text, (note) => note.file === file);
  return { ...changes, notes };
}
