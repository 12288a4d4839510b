import { checkChoice, checkIndex, checkNumber, checkOptions, checkText, checkTexts } from "../base/check-arguments.js";
import { aproposNames } from "../calls/apropos-names.js";
import type { Changes, Saves } from "../calls/change.js";
import type { ClassInfo } from "../calls/class-description.js";
import { classInfo } from "../calls/class-info.js";
import type { Compiled } from "../calls/compiled-code.js";
import type { ShownFile, ShownSource } from "../calls/definition-text.js";
import { EXPANSION_MODES, type Expansions } from "../calls/expansion.js";
import { findReferences } from "../calls/find-references.js";
import type { SourceMatches } from "../calls/found-lines.js";
import { NAMED_KINDS, type NamesFound } from "../calls/found-names.js";
import { REFERENCE_KINDS, type ReferenceKind, type References } from "../calls/found-references.js";
import { listChanges } from "../calls/list-changes.js";
import { macroexpandCode } from "../calls/macroexpand-code.js";
import { saveChanges } from "../calls/save-changes.js";
import { searchSource } from "../calls/search-source.js";
import { showFile } from "../calls/show-file.js";
import { showSource } from "../calls/show-source.js";
import { TEST_FRAMEWORKS } from "../calls/test-results.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import { type ChangesCode, changesCode } from "./changes-code.js";
import {
  APROPOS_OPTIONS,
  type AproposOptions,
  CHANGES_OPTIONS,
  type ChangesOptions,
  CLASS_OPTIONS,
  type ClassOptions,
  COMPILE_OPTIONS,
  type CompileOptions,
  EXPAND_OPTIONS,
  type ExpandOptions,
  FILE_OPTIONS,
  type FileOptions,
  LOAD_OPTIONS,
  type LoadOptions,
  NAME_OPTIONS,
  type NameOptions,
  REFERENCE_OPTIONS,
  type ReferenceOptions,
  SAVE_OPTIONS,
  type SaveOptions,
  SEARCH_OPTIONS,
  type SearchOptions,
  TEST_OPTIONS,
  type TestOptions,
} from "./code-options.js";
import { compile } from "./compile.js";
import { type LoadCode, type LoadSource, loadCode } from "./load-code.js";
import { type TestCode, testCode } from "./test-code.js";

/** Names or matches returned. */
const LIMIT = 50;

/** Lines shown before and after the wanted one. */
const CONTEXT = 20;

/**
 * Questions about the program's code. Each loads the module `code` into the image when it is first asked, runs in a thread of its own, and
 * is ended in the image when its signal is aborted. Nothing is interned.
 */
export class Code {
  readonly #lisp: LispRunner;

  constructor(lisp: LispRunner) {
    this.#lisp = lisp;
  }

  /**
   * All definitions of a name with their text: from the file if that is as it was loaded, otherwise the recorded form, if there is one.
   *
   * @param name - As code writes it: `run`, `pkg:run`, `(setf size)`, `(method area (circle))`, `(method area :around (circle))`.
   * @returns an answer, even if there is no such name.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async showSource(name: string, options: NameOptions = {}): Promise<ShownSource> {
    checkOptions("showSource", options, NAME_OPTIONS);
    checkText("name", name);
    if (options.package !== undefined) checkText("package", options.package);
    return this.#lisp.with({ signal: options.signal }).run(showSource, name, options.package);
  }

  /**
   * Lines of a file that the image can read, as it is now.
   *
   * @param file - Relative to the image's directory, or absolute.
   * @returns an answer, even if there is no such file.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async showFile(file: string, options: FileOptions = {}): Promise<ShownFile> {
    checkOptions("showFile", options, FILE_OPTIONS);
    checkText("file", file);
    const { line = 1, context = CONTEXT, signal } = options;
    checkNumber("line", line, "a whole number from 1", Number.isSafeInteger(line) && line >= 1);
    checkNumber("context", context, "a whole number from 0", Number.isSafeInteger(context) && context >= 0);
    return this.#lisp.with({ signal }).run(showFile, file, line, context);
  }

  /**
   * Symbols that name something and whose names contain a text, or match a regular expression, in upper or lower case.
   *
   * @param pattern - A regular expression may contain `. [a-z] [^a] \\d \\w \\s \\b ^ $ | ( ) * + ? {2,3}`.
   * @returns an answer, even if the pattern is bad or there is no such package.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async apropos(pattern: string, options: AproposOptions = {}): Promise<NamesFound> {
    checkOptions("apropos", options, APROPOS_OPTIONS);
    checkText("pattern", pattern);
    const { regexp = false, package: packageName, kind, external = false, limit = LIMIT, signal } = options;
    if (packageName !== undefined) checkText("package", packageName);
    if (kind !== undefined) checkChoice("kind", kind, NAMED_KINDS);
    checkIndex("limit", limit);
    const wanted = { pattern, regexp, package: packageName, kind, external, limit };
    return this.#lisp.with({ signal }).run(aproposNames, wanted);
  }

  /**
   * Lines of source files that contain a text, or match a regular expression, in upper or lower case.
   *
   * @param pattern - As for `apropos`.
   * @returns an answer, even if the pattern is bad or there is no such system or folder.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async searchSource(pattern: string, options: SearchOptions = {}): Promise<SourceMatches> {
    checkOptions("searchSource", options, SEARCH_OPTIONS);
    checkText("pattern", pattern);
    const { regexp = false, system, folder, start = 0, limit = LIMIT, signal } = options;
    if (system !== undefined) checkText("system", system);
    if (folder !== undefined) checkText("folder", folder);
    checkIndex("start", start);
    checkIndex("limit", limit);
    return this.#lisp.with({ signal }).run(searchSource, { pattern, regexp, system, folder, start, limit });
  }

  /**
   * The definitions that refer to a name, from the cross references that Lisp records, or that a function or class leads to.
   *
   * @param name - As code writes it: `run`, `pkg:run`, `(setf size)`.
   * @returns an answer, even if there is no such name.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async findReferences(name: string, kind: ReferenceKind, options: ReferenceOptions = {}): Promise<References> {
    checkOptions("findReferences", options, REFERENCE_OPTIONS);
    checkText("name", name);
    checkChoice("kind", kind, REFERENCE_KINDS);
    const { package: packageName, start = 0, limit = LIMIT, signal } = options;
    if (packageName !== undefined) checkText("package", packageName);
    checkIndex("start", start);
    checkIndex("limit", limit);
    return this.#lisp.with({ signal }).run(findReferences, { name, package: packageName, kind, start, limit });
  }

  /**
   * The class of a name, with slots, relatives and methods, and its generic function, with the file and system of each method.
   *
   * @param name - As code writes it: `circle`, `area`, `(setf size)`.
   * @returns an answer, even if there is no such name.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async classInfo(name: string, options: ClassOptions = {}): Promise<ClassInfo> {
    checkOptions("classInfo", options, CLASS_OPTIONS);
    checkText("name", name);
    const { package: packageName, args = [], signal } = options;
    if (packageName !== undefined) checkText("package", packageName);
    checkTexts("args", args);
    return this.#lisp.with({ signal }).run(classInfo, name, packageName, args);
  }

  /**
   * Expands the macro calls of forms. The forms are not evaluated, but their macros run; `#.` is refused.
   *
   * @returns an answer, even if the code cannot be read or a macro signals an error.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async macroexpand(code: string, options: ExpandOptions = {}): Promise<Expansions> {
    checkOptions("macroexpand", options, EXPAND_OPTIONS);
    checkText("code", code);
    const { mode = "once", package: packageName, signal } = options;
    checkChoice("mode", mode, EXPANSION_MODES);
    if (packageName !== undefined) checkText("package", packageName);
    return this.#lisp.with({ signal }).run(macroexpandCode, code, mode, packageName);
  }

  /**
   * The differences between the image and the files that it was loaded from, however the definitions got there.
   *
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async listChanges(options: ChangesOptions = {}): Promise<Changes> {
    checkOptions("listChanges", options, CHANGES_OPTIONS);
    if (options.file !== undefined) checkText("file", options.file);
    return this.#lisp.with({ signal: options.signal }).run(listChanges, options.file);
  }

  /**
   * Code that loads those top-level forms of files that have changed since they were loaded, in order, as the forms of their files. Evaluate
   * it, and pass the value to `results`. A form whose code fails stops it.
   *
   * @throws SwankError `INVALID_ARGUMENT`, `RUNTIME_FAILED`, `RUNTIME_FORBIDDEN`, `CANCELLED`
   */
  async loadChanges(options: ChangesOptions = {}): Promise<ChangesCode> {
    checkOptions("loadChanges", options, CHANGES_OPTIONS);
    if (options.file !== undefined) checkText("file", options.file);
    return changesCode(this.#lisp, options.file, options.signal);
  }

  /**
   * Compiles code without running it, except its macros and what it evaluates at compile time, and returns what the compiler says.
   *
   * @param source - A text, or a file relative to the image's directory.
   * @returns an answer, even if the code cannot be read or there is no such file.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async compile(
    source: { readonly code: string } | { readonly file: string },
    options: CompileOptions = {},
  ): Promise<Compiled> {
    checkOptions("compile", options, COMPILE_OPTIONS);
    const { load = false, package: packageName, signal } = options;
    if ("code" in source) checkText("code", source.code);
    else checkText("file", source?.file);
    if (packageName !== undefined) checkText("package", packageName);
    return compile(this.#lisp.with({ signal }), source, packageName, load === true);
  }

  /**
   * Writes evaluated definitions to their files, in place of the old form, or to the end of `file` if no file defines them. A file that has
   * changed meanwhile is not written.
   *
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async saveChanges(options: SaveOptions = {}): Promise<Saves> {
    checkOptions("saveChanges", options, SAVE_OPTIONS);
    const { name, file, dryRun = true, signal } = options;
    if (name !== undefined) checkText("name", name);
    if (file !== undefined) checkText("file", file);
    return this.#lisp.with({ signal }).run(saveChanges, name, file, dryRun);
  }

  /**
   * Code that runs tests of a known framework, or of a system, which it loads. Evaluate it, and pass the value to `results`.
   *
   * @param name - Of a system, of a suite (a tag of lisp-unit2) or test, or of a package of tests.
   * @throws SwankError `INVALID_ARGUMENT`, `RUNTIME_FAILED`, `RUNTIME_FORBIDDEN`, `CANCELLED`
   */
  async tests(name: string, options: TestOptions = {}): Promise<TestCode> {
    checkOptions("tests", options, TEST_OPTIONS);
    checkText("name", name);
    const { framework, stopOnFailure = false, signal } = options;
    if (framework !== undefined) checkChoice("framework", framework, TEST_FRAMEWORKS);
    return testCode(this.#lisp, name, framework, stopOnFailure === true, signal);
  }

  /**
   * Code that compiles and loads a system by ASDF, or a file. Evaluate it, and pass the value to `result`.
   *
   * @param source - The name of a system, or a file relative to the image's directory: source code, or the definition of a system.
   * @throws SwankError `INVALID_ARGUMENT`, `RUNTIME_FAILED`, `RUNTIME_FORBIDDEN`, `CANCELLED`
   */
  async loadSystem(source: LoadSource, options: LoadOptions = {}): Promise<LoadCode> {
    checkOptions("loadSystem", options, LOAD_OPTIONS);
    if ("system" in source) checkText("system", source.system);
    else checkText("file", source?.file);
    const { force = false, test = false, signal } = options;
    return loadCode(this.#lisp, source, force === true, test === true, signal);
  }
}
