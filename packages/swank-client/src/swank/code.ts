import {
  type Decoded,
  type Decoder,
  decode,
  keyword,
  list as listForm,
  NIL,
  quote,
  type Sexp,
  symbol,
  T,
} from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { check, checkOptions, type QuestionOptions, question, type Schema } from "../base/options.js";
import { keywordOf } from "../runtime/function.js";
import type { LispRunner } from "../runtime/runner.js";
import { location, type SourceLocation } from "../source-text/source-text.js";
import { call, callsWith, oneText } from "./call.js";
import { evaluation } from "./evaluation.js";

const {
  any,
  keywordName,
  list,
  literal,
  map,
  nullable,
  oneOf,
  plist,
  record,
  string,
  symbolName,
  tupleRest,
  boolean,
  optional,
  real,
  tagged,
  withDefault,
} = decode;

const definitionPlace = record({
  /** As Lisp prints it, e.g. `(DEFUN F)`. */
  name: string,
  location,
});

/** A definition or a use of one, and its place. */
export interface DefinitionPlace extends Decoded<typeof definitionPlace> {}

const places = list<DefinitionPlace>(definitionPlace);

const lowerCase = map(keywordName, (name) => name.toLowerCase());

/** A kind of cross reference. SBCL does not know `calls-who`. */
export type XrefKind =
  | "calls"
  | "calls-who"
  | "references"
  | "binds"
  | "sets"
  | "macroexpands"
  | "specializes"
  | "callers"
  | "callees";

const xrefGroup = map(tupleRest([lowerCase], places), ([kind, found]) => ({ kind, places: found }));

/** Uses of one kind. */
export interface XrefGroup extends Decoded<typeof xrefGroup> {}

/** A symbol that `apropos` found. */
export interface AproposEntry {
  /** The symbol as code writes it, e.g. `SWANK:PING`. */
  readonly designator: string;
  /** Its meanings, e.g. `function` or `class`, each with the documentation, if there is any. */
  readonly meanings: Readonly<Record<string, string | undefined>>;
}

/** The documentation; `:not-documented` for none. */
const documentation = oneOf(string, () => undefined);

function aproposEntry(datum: Sexp): AproposEntry {
  const items = list(any)(datum);
  const meanings = items.flatMap((key, at) =>
    at % 2 === 1 || key === DESIGNATOR ? [] : [[lowerCase(key), documentation(items[at + 1] ?? NIL)] as const],
  );
  return { ...plist({ designator: string })(datum), meanings: Object.fromEntries(meanings) };
}

const DESIGNATOR = keyword("designator");

/** Which symbols to find. */
export interface AproposListOptions {
  /** Default: true. */
  readonly externalOnly?: boolean;
  readonly caseSensitive?: boolean;
  /** Default: all packages. */
  readonly package?: string;
}

/** A name, which some versions send as a symbol. */
const name = oneOf(
  string,
  symbolName,
  map(list(any), (parts) => parts.join(" ")),
);

/** Finding and describing names. */
export const definitions = {
  /** `(swank:find-definitions-for-emacs "NAME")`: all definitions of a name, as `M-.` shows them. */
  findDefinitionsForEmacs: call("swank:find-definitions-for-emacs", places, oneText),
  /** `(swank:find-source-location-for-emacs '(:string "FORM" "PACKAGE"))`: the place of the definition of a form's value, such as `#'f`. */
  findSourceLocationForEmacs: call(
    "swank:find-source-location-for-emacs",
    location,
    (form: string, packageName: string) => [quote([keyword("string"), form, packageName])],
  ),
  /**
   * `(swank:xref :KIND "NAME")`: who calls, binds, sets, references, expands or specializes a name; `undefined` if this Lisp does not record
   * that kind. SBCL records uses in compiled code only.
   */
  xref: call(
    "swank:xref",
    oneOf(
      map(literal(keyword("not-implemented")), () => undefined),
      places,
    ),
    (kind: XrefKind, symbolName: string) => [keyword(kind), symbolName],
  ),
  /** `(swank:xrefs '(:KIND ...) "NAME")`: several kinds at once. Kinds without a use are absent. */
  xrefs: call("swank:xrefs", list<XrefGroup>(xrefGroup), (kinds: readonly XrefKind[], symbolName: string) => [
    quote(kinds.map((kind) => keyword(kind))),
    symbolName,
  ]),
  /** `(swank:describe-symbol "NAME")`: what DESCRIBE prints. An unknown symbol is an error. */
  describeSymbol: call("swank:describe-symbol", string, oneText),
  /** `(swank:describe-function "NAME")`: what DESCRIBE prints for the function. */
  describeFunction: call("swank:describe-function", string, oneText),
  /** `(swank:describe-definition-for-emacs "NAME" :KIND)`: what DESCRIBE prints for one meaning, e.g. `function`, `variable`, `class`. */
  describeDefinitionForEmacs: call("swank:describe-definition-for-emacs", string, (name: string, kind: string) => [
    name,
    keyword(kind),
  ]),
  /** `(swank:documentation-symbol "NAME")`: all documentation of a symbol as one text. */
  documentationSymbol: call("swank:documentation-symbol", string, oneText),
  /**
   * `(swank:operator-arglist "NAME" "PACKAGE")`: a function's name and lambda list as text, e.g. `(swank:ping TAG)`; `undefined` for an
   * unknown name. Also distinguishes versions of Swank by the lambda lists of its own functions.
   */
  operatorArglist: call("swank:operator-arglist", nullable(string), (name: string, packageName: string) => [
    name,
    packageName,
  ]),
  /** `(swank:hyperdoc "NAME")`: what the library Hyperdoc finds for a symbol: kinds and addresses; empty without that library. */
  hyperdoc: callsWith({ contrib: "swank-hyperdoc", instead: "`client.describeSymbol` has the documentation." })(
    "swank:hyperdoc",
    list(any),
    oneText,
  ),
  /** `(swank:apropos-list-for-emacs "PATTERN" EXTERNAL-ONLY CASE-SENSITIVE "PACKAGE")`: bound symbols whose name contains the text. */
  aproposListForEmacs: call(
    "swank:apropos-list-for-emacs",
    list(aproposEntry),
    (pattern: string, { externalOnly = true, caseSensitive = false, ...where }: AproposListOptions = {}) => [
      pattern,
      externalOnly ? T : NIL,
      caseSensitive ? T : NIL,
      where.package ?? NIL,
    ],
  ),
  /** `(swank:mop :RELATION "CLASS")`: direct subclasses or superclasses, as names. */
  mop: call("swank:mop", list(name), (relation: "subclasses" | "superclasses", className: string) => [
    keyword(relation),
    className,
  ]),
};

/** How severe a compiler note is, the most severe first. */
const SEVERITIES = [
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

const compilerNote = plist({
  severity: keywordOf(SEVERITIES),
  message: string,
  location,
  /** The form around the place, if the compiler gave it. */
  sourceContext: optional(nullable(string)),
  /** Where manuals explain it, as Lisp data. */
  references: withDefault(list(any), []),
});

/** A message of the compiler. */
export interface CompilerNote extends Decoded<typeof compilerNote> {}

const note = map(
  compilerNote,
  (found): CompilerNote => (found.severity === "read-error" ? { ...found, location: inBytes(found.location) } : found),
);

/** SBCL gives the place of the reader in the file, in bytes (swank/sbcl.lisp, `compiler-note-location`). */
function inBytes(where: SourceLocation): SourceLocation {
  if (where.status === "unknown" || where.position.kind !== "offset") return where;
  return { ...where, position: { ...where.position, kind: "byte" } };
}

const compiled = record({
  notes: list(note),
  /** False if there was an error or a warning; style warnings and notes are no failure. */
  succeeded: boolean,
  seconds: real,
  /** Whether the caller asked to load the result, which the caller then has to do. */
  isToLoad: boolean,
  /** The compiled file. */
  fasl: optional(nullable(string)),
});

/** The result of compiling. */
export interface Compilation extends Decoded<typeof compiled> {}

/** `(:compilation-result NOTES SUCCESSP SECONDS LOADP FASL)` (swank.lisp, `compilation-result`). */
export const compilation: Decoder<Compilation> = tagged({ "compilation-result": compiled });

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

/** A text to compile, with its package. */
export interface CodeToCompile extends CodeOrigin {
  readonly code: string;
  readonly package: string;
}

/** Optimization qualities to compile with, e.g. `{ debug: 3 }`. */
export type Policy = Readonly<Record<string, number>>;

/** How a file is compiled. */
export interface FileCompilation {
  /** Only returned, as `isToLoad`. Default: false. */
  readonly load?: boolean;
  readonly policy?: Policy;
  /** Folder for the compiled file, ending in `/`. Default: SBCL's. */
  readonly faslFolder?: string;
}

const policyForm = (policy: Policy = {}): Sexp =>
  listForm(
    symbol("cl:list"),
    ...Object.entries(policy).map(([quality, value]) =>
      listForm(symbol("cl:cons"), quote(symbol(`cl:${quality}`)), value),
    ),
  );

/** `((:position 1) (:line 1 0))` */
const positionForm = ({ position = 1, line, column = 0 }: CodeOrigin): Sexp =>
  quote([[keyword("position"), position], ...(line === undefined ? [] : [[keyword("line"), line, column]])]);

/** Compiling texts and files. */
export const compiling = {
  /** `(swank:compile-string-for-emacs "CODE" "BUFFER" '((:position P) (:line L C)) "FILE" 'POLICY)`: compiles and loads all forms of a text. */
  compileStringForEmacs: call(
    "swank:compile-string-for-emacs",
    compilation,
    (code: string, origin: CodeOrigin, policy?: Policy) => [
      code,
      origin.buffer,
      positionForm(origin),
      origin.file ?? NIL,
      policyForm(policy),
    ],
  ),
  /** `(swank:compile-multiple-strings-for-emacs '((CODE BUFFER PACKAGE POSITION FILE) ...) 'POLICY)`: the same for several texts. */
  compileMultipleStringsForEmacs: call(
    "swank:compile-multiple-strings-for-emacs",
    list(compilation),
    (texts: readonly CodeToCompile[], policy?: Policy) => [
      quote(texts.map((text) => [text.code, text.buffer, text.package, text.position ?? 1, text.file ?? NIL])),
      policyForm(policy),
    ],
  ),
  /**
   * `(swank:compile-file-for-emacs "FILE" LOADP :policy 'POLICY :fasl-directory "FOLDER/")`: compiles a file of the image's machine, and loads
   * nothing; `compileFile` does.
   */
  compileFileForEmacs: call(
    "swank:compile-file-for-emacs",
    compilation,
    (file: string, { load = false, policy, faslFolder }: FileCompilation = {}) => [
      file,
      load ? T : NIL,
      ...(policy === undefined ? [] : [keyword("policy"), policyForm(policy)]),
      ...(faslFolder === undefined ? [] : [keyword("fasl-directory"), faslFolder]),
    ],
  ),
  /** `(swank:compile-file-if-needed "FILE" LOADP)`: compiles a file unless its compiled file is newer, and loads that. */
  compileFileIfNeeded: call(
    "swank:compile-file-if-needed",
    nullable(compilation),
    (file: string, load: boolean = true) => [file, load ? T : NIL],
  ),
  /** `(swank:disassemble-form "FORM")`: the machine code of a function. The form is evaluated: `'car`, `#'car`. */
  disassembleForm: call("swank:disassemble-form", string, oneText),
};

const macroStep = tagged({
  ok: record({ text: string, subforms: list(any) }, { status: "expanded" }),
  error: record({ reason: string }, { status: "failed" }),
});

/** One step of expanding a macro call. `subforms`: the macro calls in the text, with their kinds and positions, as Lisp data. */
export type MacroStep = Decoded<typeof macroStep>;

const ofMacrostep = callsWith({ contrib: "swank-macrostep", instead: "`client.code.macroexpand` expands macros." });

const macroCall = (form: string, compilerMacros: boolean = false) => [form, compilerMacros ? T : NIL, NIL];

/** Expanding macros. => pretty-printed text */
export const expanding = {
  /** `(swank:swank-macroexpand-1 "FORM")`: expands a macro call once. */
  swankMacroexpand1: call("swank:swank-macroexpand-1", string, oneText),
  /** `(swank:swank-macroexpand "FORM")`: expands until the form is no macro call. */
  swankMacroexpand: call("swank:swank-macroexpand", string, oneText),
  /** `(swank:swank-macroexpand-all "FORM")`: expands the form and all forms in it. */
  swankMacroexpandAll: call("swank:swank-macroexpand-all", string, oneText),
  /** `(swank:swank-compiler-macroexpand-1 "FORM")`: expands a call of a function with a compiler macro once. */
  swankCompilerMacroexpand1: call("swank:swank-compiler-macroexpand-1", string, oneText),
  /** `(swank:swank-compiler-macroexpand "FORM")`: the same until nothing changes. */
  swankCompilerMacroexpand: call("swank:swank-compiler-macroexpand", string, oneText),
  /** `(swank:swank-expand-1 "FORM")`: expands a macro or a compiler macro once. */
  swankExpand1: call("swank:swank-expand-1", string, oneText),
  /** `(swank:swank-expand "FORM")`: expands macros and compiler macros until nothing changes. */
  swankExpand: call("swank:swank-expand", string, oneText),
  /** `(swank:swank-format-string-expand "STRING")`: the Lisp code for a string of FORMAT, which is given in its quotes. */
  swankFormatStringExpand: call("swank:swank-format-string-expand", string, oneText),
  /** `(swank-macrostep:macrostep-expand-1 "FORM" COMPILER-MACROS-P CONTEXT)`: expands once, and says where the expansion has macro calls. */
  macrostepExpand1: ofMacrostep("swank-macrostep:macrostep-expand-1", macroStep, macroCall),
  /** `(swank-macrostep:macro-form-p "FORM" COMPILER-MACROS-P CONTEXT)`: the `kind` of macro call, e.g. `macro`; `undefined` for another form. */
  macroFormP: ofMacrostep(
    "swank-macrostep:macro-form-p",
    tagged({ ok: record({ kind: nullable(map(keywordName, (name) => name.toLowerCase())) }) }),
    macroCall,
  ),
};

/** How a file is compiled, and whether it is loaded. */
export interface CompileFileOptions extends QuestionOptions, Omit<FileCompilation, "load"> {
  /** True: loads the compiled file if there was neither an error nor a warning. `always`: loads it if there is one. Default: false. */
  readonly load?: boolean | "always" | undefined;
}

const OPTIONS: Schema = { ...question, load: check.any(), policy: check.any(), faslFolder: check.any() };

/** The result of compiling a file. */
export interface CompiledFile extends Omit<Compilation, "isToLoad"> {
  readonly isLoaded: boolean;
  /** The error that ended loading; `undefined` without one. */
  readonly loadError: SwankError | undefined;
}

/**
 * Compiles a file of the image's machine, and loads it with the option `load`, which Swank leaves to the client (slime.el,
 * `slime-compilation-finished`). `Sources` finds the lines of the notes.
 *
 * @throws SwankError `REQUEST_FAILED` if there is no such file, `INVALID_ARGUMENT`, `CANCELLED`, or the reason of a closed connection.
 *
 * @example
 * await compileFile(client.lisp, "src/model.lisp", { load: true });
 */
export async function compileFile(
  lisp: LispRunner,
  file: string,
  options: CompileFileOptions = {},
): Promise<CompiledFile> {
  checkOptions("compileFile", options, OPTIONS);
  check.text("file", file);
  const { signal, load = false, ...how } = options;
  const runner = lisp.with({ signal });
  const asked = { ...how, load: load !== false };
  const { isToLoad, ...compiled } = await runner.run(compiling.compileFileForEmacs, file, asked);
  const { fasl, succeeded } = compiled;
  if (!isToLoad || fasl === undefined || !(succeeded || load === "always")) {
    return { ...compiled, isLoaded: false, loadError: undefined };
  }
  const loadError = await runner.run(evaluation.loadFile, fasl).then(() => undefined, errorOfCode);
  return { ...compiled, isLoaded: loadError === undefined, loadError };
}

/** The error if the file's code caused it. @throws any other error */
function errorOfCode(error: unknown): SwankError {
  if (error instanceof SwankError && error.code === "REQUEST_FAILED") return error;
  throw error;
}
