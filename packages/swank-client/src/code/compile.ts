import { type Decoded, decode, keyword } from "sexp-parser";
import { check, type OptionsOf } from "../base/options.js";
import { redefinitions } from "../evaluation/report.js";
import { forms, keywordOf, lispFunction } from "../runtime/function.js";
import { type LispRunner, questionsTo } from "../runtime/runner.js";
import { findUnbalanced, lineText, rebalanced } from "../source-text/balance.js";
import {
  CODE_TIME,
  type FileNotFound,
  fileNotFound,
  formPlace,
  inPackage,
  NAMED_KINDS,
  nameNotFound,
  type PackageNotFound,
} from "./found.js";

const { boolean, integer, list, map, nullable, oneOf, optional, plist, record, string, tagged, tuple } = decode;

const compileOptions = {
  ...inPackage,
  /** True to load the compiled code if there was no error. Default: false. */
  load: check.flag,
};

/** How to compile code. */
export interface CompileOptions extends OptionsOf<typeof compileOptions> {}

/** How bad a note of the compiler is. `read-error`: the form cannot be read, and none after it was compiled. */
export const SEVERITIES = ["read-error", "error", "warning", "style-warning", "note"] as const;

const compiledForm = {
  ...formPlace,
  /** The first line of the form, from its column on. */
  form: optional(string),
};

/** `(:severity SEVERITY :message MESSAGE ...)` (lisp/build/loading.lisp). */
export const codeNote = plist({
  severity: keywordOf(SEVERITIES),
  /** What the compiler or the reader says. */
  message: string,
  ...compiledForm,
  /** The definition that the form is in, e.g. `(DEFUN AREA)`. */
  definition: optional(nullable(string)),
});

/** What the compiler says about a form. `file` is absent for code that was sent, and the place if the compiler does not know it. */
export interface CodeNote extends Decoded<typeof codeNote> {
  /** Lines whose parentheses are probably wrong. */
  readonly suspects?: readonly { readonly line: number; readonly text: string }[];
  /** The lines that would balance the text as its indentation says, at most 20, each as it is and as it would be. Nothing applies them. */
  readonly repair?: readonly RepairedLine[];
}

const place = plist(compiledForm);

/** `(TYPE MESSAGE (:file FILE :line LINE ...))` (lisp/build/compile-code.lisp). */
export const codeFailure = map(tuple(string, string, place), ([type, message, where]) => ({ type, message, ...where }));

/**
 * An error that ended compiling or loading, with the place of the form that caused it as far as that is known. `file` is absent for code that
 * was sent.
 */
export interface CodeFailure extends Decoded<typeof codeFailure> {}

const compiled = record(
  {
    /** Relative to the image's directory if it is below that; absent for code that was sent. */
    file: nullable(string),
    /** In the order in which the compiler gave them. */
    notes: list<CodeNote>(codeNote),
    /** Number of further notes. */
    leftOut: integer,
    /** True if there was an error. Nothing is loaded then. */
    failed: boolean,
    loaded: oneOf(codeFailure, boolean),
    text: nullable(string),
    /** Of loading it. */
    redefinitions,
  },
  { status: "compiled" },
);

/** The notes of compiled code. */
interface CompiledCode extends Omit<Decoded<typeof compiled>, "loaded" | "text"> {
  readonly loaded: boolean;
  /** The error that ended loading; what came before it stays loaded. */
  readonly loadError: CodeFailure | undefined;
}

/** The result of compiling code, or the reason why it was not compiled. */
export type Compiled =
  | CompiledCode
  /** An error that the compiler does not report itself, such as an exhausted stack. */
  | ({ readonly status: "failed" } & CodeFailure)
  | FileNotFound
  | PackageNotFound;

/** Where the reader has failed, the notes name the parenthesis or quote that is unbalanced in `text`, which cannot be read to its end. */
function compiledCode({ text, loaded, ...rest }: Decoded<typeof compiled>): CompiledCode {
  const isOfSource = ({ file }: { readonly file?: string | undefined }) => file === undefined || file === rest.file;
  return {
    ...rest,
    notes: text === undefined ? rest.notes : locatedNotes(rest.notes, text, isOfSource),
    loaded: loaded === true,
    loadError: typeof loaded === "boolean" ? undefined : loaded,
  };
}

/** A line of unbalanced text, and as its indentation says that it is meant. */
export interface RepairedLine {
  readonly line: number;
  readonly before: string;
  readonly after: string;
}

/** What to compile: a text, or a file relative to the image's directory. */
export type CompileSource = { readonly code: string } | { readonly file: string };

/** Compiles a text or a file in a package, by default the session's package (lisp/build/compile-code.lisp). */
const compileCode = lispFunction({
  name: "compile-code",
  ability: "compile-notes",
  module: "build",
  encode: (source: CompileSource, { package: packageName, load }: CompileOptions) =>
    forms("code" in source && source.code, "file" in source && source.file, packageName, load),
  decode: tagged({
    compiled: map(compiled, (found): Compiled => compiledCode(found)),
    failed: map(codeFailure, (failure): Compiled => ({ status: "failed", ...failure })),
    ...fileNotFound,
    "package-not-found": nameNotFound["package-not-found"],
  }),
  timeout: CODE_TIME,
  label: () => "compiling",
});

/** The notes with the parenthesis or quote that is unbalanced in `text`, where the reader has failed in the file that `isOf` recognizes. */
export function locatedNotes(
  notes: readonly CodeNote[],
  text: string,
  isOf: (note: CodeNote) => boolean,
): readonly CodeNote[] {
  return notes.map((note) => (note.severity === "read-error" && isOf(note) ? located(note, text) : note));
}

function located(note: CodeNote, text: string): CodeNote {
  const found = findUnbalanced(text);
  if (found === undefined) return note;
  const { line, column, message } = found;
  const suspects = found.suspects.map((suspect) => ({ line: suspect, text: lineText(text, suspect) }));
  const repair = repairOf(text);
  const form = lineText(text, line).slice(column - 1);
  return { ...note, line, column, message, suspects, form, ...(repair.length === 0 ? {} : { repair }) };
}

/** Most lines of a repair. */
const MOST_REPAIRED = 20;

/** Longest line of a repair. */
const LONGEST_REPAIRED = 500;

function repairOf(text: string): readonly RepairedLine[] {
  const mended = rebalanced(text)?.split("\n") ?? [];
  const before = text.split("\n");
  const lines = mended.flatMap((after, index) =>
    after === before[index] ? [] : [{ line: index + 1, before: before[index] ?? "", after }],
  );
  const isLong = ({ before: line }: RepairedLine) => line.length > LONGEST_REPAIRED;
  return lines.length > MOST_REPAIRED || lines.some(isLong) ? [] : lines;
}

/** Compiles code. */
export async function compile(lisp: LispRunner, source: CompileSource, options: CompileOptions): Promise<Compiled> {
  const asking = questionsTo(lisp, "compile", options, compileOptions);
  if ("code" in source) check.text("code", source.code);
  else check.text("file", source?.file);
  return asking.run(compileCode, source, options);
}

/** How far macros are expanded: one step; until the form is no macro call; or also the macro calls inside. */
export const EXPANSION_MODES = ["once", "full", "all"] as const;

/** One of `EXPANSION_MODES`. */
export type ExpansionMode = (typeof EXPANSION_MODES)[number];

const expandOptions = {
  ...inPackage,
  /** Default: `once`. */
  mode: check.choice(EXPANSION_MODES),
};

/** How far to expand macros. */
export interface ExpandOptions extends OptionsOf<typeof expandOptions> {}

const plainOperator = record({
  name: string,
  /** `undefined` if the operator is not defined. */
  kind: nullable(keywordOf(NAMED_KINDS)),
  /** If it is not defined: names that may be meant. */
  similar: list(string),
});

/** The operator of a form that has no expansion. */
export interface PlainOperator extends Decoded<typeof plainOperator> {}

const expansion = record({
  /** Printed in lower case in the package; symbols of no package are numbered, so that they can be told apart. At most 40000 characters. */
  text: string,
  /** False if there was nothing to expand. */
  isExpanded: boolean,
  /** The operator of a form that was not expanded. */
  operator: nullable<PlainOperator>(plainOperator),
});

/** The expansion of one form. */
export interface Expansion extends Decoded<typeof expansion> {}

const expansions = tagged({
  expanded: record({ forms: list<Expansion>(expansion) }, { status: "expanded" }),
  unreadable: record({ message: string }, { status: "unreadable" }),
  failed: record({ type: string, message: string }, { status: "failed" }),
  "package-not-found": nameNotFound["package-not-found"],
});

/**
 * The expansions of forms, or the reason why there are none. `unreadable`: the code could not be read. `failed`: a macro signalled an error of
 * this type.
 */
export type Expansions = Decoded<typeof expansions>;

/** The expansions of forms, which are read in a package, by default the session's package (lisp/questions/macroexpand.lisp). */
const macroexpandCode = lispFunction({
  name: "macroexpand-code",
  ability: "describe",
  module: "questions",
  encode: (code: string, { mode = "once", package: packageName }: ExpandOptions) =>
    forms(code, keyword(mode), packageName),
  decode: expansions,
  timeout: CODE_TIME,
  label: () => "expanding macros",
});

/** Expands the macro calls of forms. */
export async function macroexpand(lisp: LispRunner, code: string, options: ExpandOptions): Promise<Expansions> {
  return questionsTo(lisp, "macroexpand", options, expandOptions).run(
    macroexpandCode,
    check.text("code", code),
    options,
  );
}
