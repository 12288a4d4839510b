import type { OptionNames } from "../base/check-arguments.js";
import { QUESTION_OPTIONS, type QuestionOptions } from "../base/question-options.js";
import type { ExpansionMode } from "../calls/expansion.js";
import type { NamedKind } from "../calls/found-names.js";
import type { TEST_FRAMEWORKS } from "../calls/test-results.js";

/** Names, matches or references returned by default. */
export const LIMIT = 50;

/** Options of questions about names. */
export interface NameOptions extends QuestionOptions {
  /** Name of the package in which the name is looked up, in upper or lower case. Default: the session's package. */
  readonly package?: string | undefined;
}

/** The part of a file to show. */
export interface FileOptions extends QuestionOptions {
  /** From 1. Default: 1. */
  readonly line?: number | undefined;
  /** Number of lines shown before and after that line. Default: 20. */
  readonly context?: number | undefined;
}

/** Which names to look for. */
export interface AproposOptions extends QuestionOptions {
  /** True if the pattern is a regular expression. Default: a part of the name. */
  readonly regexp?: boolean | undefined;
  /** Name of the package to search. Default: all packages, except the keywords. */
  readonly package?: string | undefined;
  /** `function` includes generic functions, `class` structures and conditions, `variable` constants. Default: all kinds. */
  readonly kind?: NamedKind | undefined;
  /** True for exported names only. Default: false. */
  readonly external?: boolean | undefined;
  /** Most names returned. Default: 50. */
  readonly limit?: number | undefined;
}

export const APROPOS_OPTIONS: OptionNames<AproposOptions> = {
  ...QUESTION_OPTIONS,
  regexp: true,
  package: true,
  kind: true,
  external: true,
  limit: true,
};
export const NAME_OPTIONS: OptionNames<NameOptions> = { ...QUESTION_OPTIONS, package: true };
export const FILE_OPTIONS: OptionNames<FileOptions> = { ...QUESTION_OPTIONS, line: true, context: true };

/** Where to search, and which of the matches to return. */
export interface SearchOptions extends QuestionOptions {
  /** True if the pattern is a regular expression. Default: a text. */
  readonly regexp?: boolean | undefined;
  /** Name of a system that ASDF knows. Default: the files of which code is loaded, except Lisp's and Swank's. */
  readonly system?: string | undefined;
  /** Instead of a system: a folder, whose files with Lisp code are searched, loaded or not. */
  readonly folder?: string | undefined;
  /** Index of the first match, from 0. Default: 0. */
  readonly start?: number | undefined;
  /** Most matches returned. Default: 50. */
  readonly limit?: number | undefined;
}

export const SEARCH_OPTIONS: OptionNames<SearchOptions> = {
  ...QUESTION_OPTIONS,
  regexp: true,
  system: true,
  folder: true,
  start: true,
  limit: true,
};

/** How to compile code. */
export interface CompileOptions extends NameOptions {
  /** True to load the compiled code if there was no error. Default: false. */
  readonly load?: boolean | undefined;
}

export const COMPILE_OPTIONS: OptionNames<CompileOptions> = { ...NAME_OPTIONS, load: true };

/** How far to expand macros. */
export interface ExpandOptions extends NameOptions {
  /** Default: `once`. */
  readonly mode?: ExpansionMode | undefined;
}

export const EXPAND_OPTIONS: OptionNames<ExpandOptions> = { ...NAME_OPTIONS, mode: true };

/** The file of a question about changes. */
export interface ChangesOptions extends QuestionOptions {
  /** Relative to the image's directory, or absolute. Default: all files that the image was loaded from. */
  readonly file?: string | undefined;
}

/** Names of the options of `listChanges`. */
export const CHANGES_OPTIONS: OptionNames<ChangesOptions> = { ...QUESTION_OPTIONS, file: true };

/** The call whose methods are listed. */
export interface ClassOptions extends NameOptions {
  /** Lisp sources of the arguments: literals, `'data`, variables, or names of classes for any instance. */
  readonly args?: readonly string[] | undefined;
}

export const CLASS_OPTIONS: OptionNames<ClassOptions> = { ...NAME_OPTIONS, args: true };

/** Which of the references to return. */
export interface ReferenceOptions extends NameOptions {
  /** Index of the first one, from 0. Default: 0. */
  readonly start?: number | undefined;
  /** Most references returned. Default: 50. */
  readonly limit?: number | undefined;
}

export const REFERENCE_OPTIONS: OptionNames<ReferenceOptions> = { ...NAME_OPTIONS, start: true, limit: true };

/** What to save, and where. */
export interface SaveOptions extends ChangesOptions {
  /** As code writes it, like the name for `showSource`. Default: what this client evaluated and a file defines with another text. */
  readonly name?: string | undefined;
  /** Only return what would be written. Default: true. */
  readonly dryRun?: boolean | undefined;
}

/** Names of the options of `saveChanges`. */
export const SAVE_OPTIONS: OptionNames<SaveOptions> = { ...CHANGES_OPTIONS, name: true, dryRun: true };

/** Which tests to run, and how. */
export interface TestOptions extends QuestionOptions {
  /** Where to look for the name. Default: the systems, then the tests of each framework, then packages. */
  readonly framework?: (typeof TEST_FRAMEWORKS)[number] | undefined;
  /** True if the first failure enters the debugger. Default: false. */
  readonly stopOnFailure?: boolean | undefined;
}

export const TEST_OPTIONS: OptionNames<TestOptions> = { ...QUESTION_OPTIONS, framework: true, stopOnFailure: true };

/** How to load a system or a file. */
export interface LoadOptions extends QuestionOptions {
  /** True to compile all files of the system, even those that have not changed. Default: false. */
  readonly force?: boolean | undefined;
  /** True to load the systems of its tests, too. Default: false. */
  readonly test?: boolean | undefined;
}

export const LOAD_OPTIONS: OptionNames<LoadOptions> = { ...QUESTION_OPTIONS, force: true, test: true };
