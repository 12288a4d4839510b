import { type Decoded, type Decoder, decode, NIL, print, read } from "sexp-parser";
import { check, checkOptions, type OptionsOf, question } from "../base/options.js";
import { threadsInside } from "../evaluation/report.js";
import { type PreparedCode, taskOptions } from "../evaluation/work.js";
import { forms, keywordOf, lispFunction } from "../runtime/function.js";
import { type LispRunner, questionsTo } from "../runtime/runner.js";
import { type CodeNote, codeNote, locatedNotes } from "./compile.js";
import {
  CODE_TIME,
  type FileNotFound,
  fileNotFound,
  formPlace,
  type NameNotFound,
  nameNotFound,
  SOURCE_KINDS,
} from "./found.js";

const { boolean, integer, list, map, nullable, optional, plist, record, string, tagged, tuple } = decode;

const changesOptions = {
  ...question,
  /** Relative to the image's directory, or absolute. Default: all files that the image was loaded from. */
  file: check.text,
};

/** The file of a question about changes. */
export interface ChangesOptions extends OptionsOf<typeof changesOptions> {}

const loadChangesOptions = {
  ...taskOptions,
  file: changesOptions.file,
  /**
   * Definitions that are evaluated again from their files, also if their forms have not changed; then nothing else is loaded. As code writes them,
   * like the name for `showSource`.
   */
  names: check.texts,
};

/** Which changes to load, and how. */
export interface LoadChangesOptions extends OptionsOf<typeof loadChangesOptions> {}

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
 * - `uncompared`: this client evaluated it, and no file of the program has a form with its text. Lisp does not record such definitions, as tests,
 *   or they belong to no package of the program.
 */
const CHANGE_STATES = [
  "image-only",
  "differs",
  "conflict",
  "changed",
  "maybe-changed",
  "new",
  "deleted",
  "file-only",
  "uncompared",
] as const;

/** One of `CHANGE_STATES`. */
export type ChangeState = (typeof CHANGE_STATES)[number];

const changeFields = {
  state: keywordOf(CHANGE_STATES),
  /** Absent if the form is no definition that is known. */
  kind: optional(nullable(keywordOf(SOURCE_KINDS))),
  /** As code in the session's package writes it; for a form that is no definition, its first line. */
  name: string,
  /** The text in the image, or the one that was loaded, as far as it is known. */
  text: optional(nullable(string)),
  /** The text in the file. */
  fileText: optional(nullable(string)),
  /** True if this client evaluated the definition. */
  fromClient: boolean,
  ...formPlace,
};

/** `(:state STATE :kind KIND ...)` (lisp/changes/list-changes.lisp). */
const change = plist(changeFields);

/** A difference between the image and its files. */
export interface Change extends Decoded<typeof change> {}

/**
 * How a file was compared: `compared` with the text that was loaded; `guessed` by the lengths of its forms, because that text is not
 * recorded; `failed`: not compared, because this client has begun to load it and it was never loaded to its end; `unloaded`: not compared,
 * because nothing shows that it was ever loaded; `undated`: not compared, because its date does not show whether it has changed since it was
 * loaded; `unreadable`: not compared, because it cannot be read to its end.
 */
const FILE_STATES = ["compared", "guessed", "failed", "unloaded", "undated", "unreadable"] as const;

const fileState = record({ file: string, state: keywordOf(FILE_STATES) });

/** How a file was compared. */
export interface FileState extends Decoded<typeof fileState> {}

const assigned = record({
  name: string,
  value: string,
  /** The file that defines the variable, if one does. */
  file: optional(nullable(string)),
});

/** A global variable that this client's forms have assigned, with its value now. */
export interface AssignedVariable extends Decoded<typeof assigned> {}

const foundChanges = record(
  {
    changes: list<Change>(change),
    /** Number of changes that are not listed. */
    leftOut: integer,
    /** The files that have changed, or about which this is not known. */
    files: list<FileState>(fileState),
    /** The global variables that this client's forms have assigned. */
    assigned: list<AssignedVariable>(assigned),
  },
  { status: "found" },
);

/** The differences between the image and its files. */
export interface FoundChanges extends Decoded<typeof foundChanges> {}

/** The differences between the image and its files, or the reason why there are none. */
export type Changes = FoundChanges | FileNotFound;

/** The differences between the image and `file`, by default all its files (lisp/changes/list-changes.lisp). */
const listChangesCall = lispFunction({
  name: "list-changes",
  module: "changes",
  encode: (file: string | undefined) => [file ?? NIL],
  decode: tagged({ changes: foundChanges, ...fileNotFound }),
  timeout: CODE_TIME,
  label: () => "listing changes",
});

/** Asks how the image differs from its files. */
export async function listChanges(lisp: LispRunner, options: ChangesOptions): Promise<Changes> {
  return questionsTo(lisp, "listChanges", options, changesOptions).run(listChangesCall, options.file);
}

const saveOptions = {
  ...changesOptions,
  /** As code writes it, like the name for `showSource`. Default: what this client evaluated and a file defines with another text. */
  name: check.text,
  /** Only return what would be written. Default: true. */
  dryRun: check.flag,
};

/** What to save, and where. */
export interface SaveOptions extends OptionsOf<typeof saveOptions> {}

/**
 * What became of a definition that was to be saved.
 *
 * - `save`: it would be written; this was a dry run.
 * - `saved`: written.
 * - `no-file`: no file defines it, and none was named with its name.
 * - `not-lisp`: the named file is no Lisp source, by its type or its text.
 * - `no-text`: Lisp has not recorded its text.
 * - `file-changed`: its form in the file has changed since it was loaded, or the file changed while it was written.
 * - `defined`: the file has a form of it, but the image did not load that; it was not replaced. The place is that of the form.
 * - `unreadable`: not all of the file can be read, so a form of it may be there. The place is that of the first form that cannot be read.
 * - `ambiguous`: the file has several such forms.
 * - `removes-others`: it was evaluated inside of another form, such as LET, and the form in the file that this would replace has other or newer definitions, too.
 * - `others-elsewhere`: that form also has definitions that are in other places of the file.
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
const SAVE_OUTCOMES = [
  "save",
  "saved",
  "no-file",
  "not-lisp",
  "no-text",
  "file-changed",
  "defined",
  "unreadable",
  "ambiguous",
  "removes-others",
  "others-elsewhere",
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

/** `(:outcome OUTCOME :state STATE ...)` (lisp/changes/save-changes.lisp). */
const save = plist({
  outcome: keywordOf(SAVE_OUTCOMES),
  /** Number of comments within `fileText` that `text` does not have. */
  lostComments: integer,
  /** Who has unsaved edits of the file, as `user@host.process`. */
  editor: optional(nullable(string)),
  ...changeFields,
});

/** A definition that was to be saved; `text` replaces `fileText` or, if there is none, is added at the place. */
export interface Save extends Decoded<typeof save> {}

/** What became of the definitions, or the reason why there is no answer. `undefined`: nothing is defined by the name, as code writes it. */
export type Saves =
  | { readonly status: "found"; readonly saves: readonly Save[] }
  | { readonly status: "undefined"; readonly name: string }
  | FileNotFound
  | NameNotFound;

/** Writes definitions to their files, or only says what would be written (lisp/changes/save-changes.lisp). */
const saveChangesCall = lispFunction({
  name: "save-changes",
  module: "changes",
  encode: ({ name, file, dryRun = true }: SaveOptions) => forms(name, file, dryRun),
  decode: tagged({
    saves: record({ saves: list<Save>(save) }, { status: "found" }),
    undefined: record({ name: string }, { status: "undefined" }),
    ...fileNotFound,
    ...nameNotFound,
  }),
  timeout: CODE_TIME,
  label: () => "saving changes",
});

/** Writes definitions to their files, or asks what would be written. */
export async function saveChanges(lisp: LispRunner, options: SaveOptions): Promise<Saves> {
  return questionsTo(lisp, "saveChanges", options, saveOptions).run(saveChangesCall, options);
}

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
const FORM_OUTCOMES = [
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
const FORM_REMARKS = ["old-expansion", "value-kept", "package-kept"] as const;

/** `same`: the form is evaluated again because its name was given. */
const FORM_STATES = [...CHANGE_STATES, "same"] as const;

/** `(:outcome OUTCOME :remark REMARK ...)` */
const changedForm = plist({
  outcome: keywordOf(FORM_OUTCOMES),
  remark: nullable(keywordOf(FORM_REMARKS)),
  /** The functions that were compiled with the old macro, inline function, structure or constant, as far as they are known. */
  users: list(string),
  ...changeFields,
  state: keywordOf(FORM_STATES),
});

/** A form that has changed in its file or was named, and what became of it. */
export interface ChangedForm extends Decoded<typeof changedForm> {}

/**
 * Why a named definition was not evaluated again. `undefined`: there is none. `no-file`: no file of the program has a form of it. `unsaved`: another
 * text than that of its file was evaluated.
 */
const NAME_PROBLEMS = ["undefined", "no-file", "unsaved"] as const;

const unloadedName = record({ name: string, problem: keywordOf(NAME_PROBLEMS) });

/** A named definition that was not evaluated again. */
export interface UnloadedName extends Decoded<typeof unloadedName> {}

const loads = record({
  /** In the order in which they were loaded. */
  forms: list<ChangedForm>(changedForm),
  /** The files that have changed, or about which this is not known. */
  files: list<FileState>(fileState),
  /** Warnings and errors of the compiler and of the code, with their places. */
  notes: list<CodeNote>(codeNote),
  /** Number of further notes. */
  leftOut: integer,
  /** The names and texts of files that cannot be read to their end. */
  texts: list(tuple(string, string)),
  /** The names that were given and whose definitions were not evaluated again. */
  unloaded: list<UnloadedName>(unloadedName),
  /** The numbers of threads that are still inside old definitions. */
  inside: threadsInside,
});

/** What became of the forms that have changed. */
export interface LoadedChanges extends Omit<Decoded<typeof loads>, "texts"> {
  /**
   * `incomplete`: a file cannot be read to its end, or a form that has changed is not in the image. `files` and the `outcome` of each form say
   * which, and `notes` why.
   */
  readonly status: "loaded" | "incomplete";
}

function isComplete(forms: readonly ChangedForm[], files: readonly FileState[]): boolean {
  const isDone = ({ outcome }: ChangedForm) => outcome === "loaded" || outcome === "deleted" || outcome === "skipped";
  return forms.every(isDone) && files.every(({ state }) => state !== "unreadable");
}

/** Decodes what follows the tag of `(:loads ...)`, a reply of `load-changes`. */
export const loadedForms: Decoder<LoadedChanges> = map(loads, ({ texts, ...rest }) => {
  let { notes } = rest;
  for (const [file, text] of texts) notes = locatedNotes(notes, text, (note) => note.file === file);
  return { ...rest, notes, status: isComplete(rest.forms, rest.files) ? "loaded" : "incomplete" };
});

/** Decodes the value of `load-changes` (lisp/changes/load-changes.lisp). */
const loadedChanges: Decoder<LoadedChanges | FileNotFound> = tagged({ loads: loadedForms, ...fileNotFound });

/** Loads the module that loads changes, and returns code that calls it. */
export async function changesCode(
  lisp: LispRunner,
  options: LoadChangesOptions,
): Promise<PreparedCode<LoadedChanges | FileNotFound>> {
  checkOptions("loadChanges", options, loadChangesOptions);
  const { file, names, signal } = options;
  const operator = await lisp.loadedOperator("load-changes", "changes", signal);
  const wanted =
    names === undefined || names.length === 0 ? "" : ` (quote (${names.map((name) => print(name)).join(" ")}))`;
  return {
    code: `(${operator} ${file === undefined ? "nil" : print(file)}${wanted})`,
    result: (value) => loadedChanges(read(value)),
  };
}
