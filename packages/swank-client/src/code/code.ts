import type { Task } from "../evaluation/stop.js";
import { type ProgressTask, type StartTask, startPrepared, startRun } from "../evaluation/work.js";
import type { LispRunner } from "../runtime/runner.js";
import {
  type Changes,
  type ChangesOptions,
  changesCode,
  type LoadChangesOptions,
  type LoadedChanges,
  listChanges,
  type SaveOptions,
  type Saves,
  saveChanges,
} from "./changes.js";
import {
  type Compiled,
  type CompileOptions,
  type CompileSource,
  compile,
  type ExpandOptions,
  type Expansions,
  macroexpand,
} from "./compile.js";
import type { FileNotFound, PackageNotFound } from "./found.js";
import {
  type LoadOptions,
  type LoadResult,
  type LoadSource,
  loadCode,
  type TestOptions,
  type TestResults,
  testCode,
} from "./load.js";
import { type AproposOptions, apropos, type NamesFound } from "./names.js";
import {
  type OutlinedFile,
  type OutlinedSystem,
  type OutlineOptions,
  outlineFile,
  outlinePackage,
  outlineSystem,
  type PackageOutline,
  type PackageOutlineOptions,
  type SystemOutlineOptions,
} from "./outline.js";
import {
  type ClassInfo,
  type ClassOptions,
  classInfo,
  findReferences,
  type ReferenceKind,
  type ReferenceOptions,
  type References,
} from "./references.js";
import {
  type FileOptions,
  type SearchOptions,
  type ShownFile,
  type ShownSource,
  type SourceMatches,
  type SourceOptions,
  searchSource,
  showFile,
  showSource,
} from "./source.js";
import { type UndoneDefinition, type UndoOptions, undoCode } from "./undo.js";

/**
 * Questions about the program's code, and tasks that load or test it.
 *
 * Each question runs in a thread of its own, and is ended in the image when its signal is aborted. Nothing is interned. Tasks run as evaluations
 * do: they print, stop and are interrupted.
 */
export class Code {
  readonly #lisp: LispRunner;
  readonly #start: StartTask;

  constructor(lisp: LispRunner, start: StartTask) {
    this.#lisp = lisp;
    this.#start = start;
  }

  /**
   * All definitions of a name with their text: from the file if that is as it was loaded, otherwise the recorded form, if there is one.
   *
   * @param name - As code writes it: `run`, `pkg:run`, `(setf size)`, `(method area (circle))`, `(method area :around (circle))`.
   * @returns an answer, even if there is no such name.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async showSource(name: string, options: SourceOptions = {}): Promise<ShownSource> {
    return showSource(this.#lisp, name, options);
  }

  /**
   * Lines of a file that the image can read, as it is now.
   *
   * @param file - Relative to the image's directory, or absolute.
   * @returns an answer, even if there is no such file.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async showFile(file: string, options: FileOptions = {}): Promise<ShownFile> {
    return showFile(this.#lisp, file, options);
  }

  /**
   * Symbols that name something and whose names contain a text, or match a regular expression, in upper or lower case.
   *
   * @param pattern - A regular expression may contain `. [a-z] [^a] \\d \\w \\s \\b ^ $ | ( ) * + ? {2,3}`. `""` for all names of a package.
   * @returns an answer, even if the pattern is bad or there is no such package.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async apropos(pattern: string, options: AproposOptions = {}): Promise<NamesFound> {
    return apropos(this.#lisp, pattern, options);
  }

  /**
   * The forms of a file that the image can read, as it is now, with their lines.
   *
   * @param file - Relative to the image's directory, or absolute.
   * @returns an answer, even if there is no such file.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async outlineFile(file: string, options: OutlineOptions = {}): Promise<OutlinedFile> {
    return outlineFile(this.#lisp, file, options);
  }

  /**
   * The names of a package by kind, exported ones first.
   *
   * @returns an answer, even if there is no such package.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async outlinePackage(name: string, options: PackageOutlineOptions = {}): Promise<PackageOutline | PackageNotFound> {
    return outlinePackage(this.#lisp, name, options);
  }

  /**
   * The files of a system that ASDF knows, in the order in which they are loaded, with what they define and need; and what its loaded code adds to
   * other systems, such as methods of their functions.
   *
   * @returns an answer, even if ASDF knows no such system.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async outlineSystem(name: string, options: SystemOutlineOptions = {}): Promise<OutlinedSystem> {
    return outlineSystem(this.#lisp, name, options);
  }

  /**
   * Lines of source files that contain a text, or match a regular expression, in upper or lower case.
   *
   * @param pattern - As for `apropos`.
   * @returns an answer, even if the pattern is bad or there is no such system or folder.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async searchSource(pattern: string, options: SearchOptions = {}): Promise<SourceMatches> {
    return searchSource(this.#lisp, pattern, options);
  }

  /**
   * The definitions that refer to a name, from the cross references that Lisp records, or that a function or class leads to.
   *
   * @param name - As code writes it: `run`, `pkg:run`, `(setf size)`.
   * @returns an answer, even if there is no such name.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async findReferences(name: string, kind: ReferenceKind, options: ReferenceOptions = {}): Promise<References> {
    return findReferences(this.#lisp, name, kind, options);
  }

  /**
   * The class of a name, with slots, relatives and methods, and its generic function, with the file and system of each method.
   *
   * @param name - As code writes it: `circle`, `area`, `(setf size)`.
   * @returns an answer, even if there is no such name.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async classInfo(name: string, options: ClassOptions = {}): Promise<ClassInfo> {
    return classInfo(this.#lisp, name, options);
  }

  /**
   * Expands the macro calls of forms. The forms are not evaluated, but their macros run; `#.` is refused.
   *
   * @returns an answer, even if the code cannot be read or a macro signals an error.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async macroexpand(code: string, options: ExpandOptions = {}): Promise<Expansions> {
    return macroexpand(this.#lisp, code, options);
  }

  /**
   * The differences between the image and the files that it was loaded from, however the definitions got there.
   *
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async listChanges(options: ChangesOptions = {}): Promise<Changes> {
    return listChanges(this.#lisp, options);
  }

  /**
   * Loads those top-level forms of files that have changed since they were loaded, in order, as the forms of their files. A form whose code
   * fails stops the task.
   *
   * @returns the running task. Never throws: `result()` reports the errors of `Task.result`, `INVALID_ARGUMENT` among them.
   */
  loadChanges(options: LoadChangesOptions = {}): Task<LoadedChanges | FileNotFound> {
    return startPrepared(this.#start, (signal) => changesCode(this.#lisp, { ...options, signal }), options);
  }

  /**
   * Undoes a definition that evaluations of this or another client have made. If a file of the program has it, the form of the file, as it is now, is
   * evaluated again, as a form of its file. If none has, it is removed. A form whose code fails stops the task.
   *
   * @param name - As code writes it: `run`, `pkg:run`, `(setf size)`, `(method area (circle))`.
   * @returns the running task. Never throws: `result()` reports the errors of `Task.result`, `INVALID_ARGUMENT` among them.
   */
  undoDefinition(name: string, options: UndoOptions = {}): Task<UndoneDefinition> {
    return startPrepared(this.#start, (signal) => undoCode(this.#lisp, name, { ...options, signal }), options);
  }

  /**
   * Compiles code without running it, except its macros and what it evaluates at compile time, and returns what the compiler says.
   *
   * @param source - A text, or a file relative to the image's directory.
   * @returns an answer, even if the code cannot be read or there is no such file.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async compile(source: CompileSource, options: CompileOptions = {}): Promise<Compiled> {
    return compile(this.#lisp, source, options);
  }

  /**
   * Writes evaluated definitions to their files, in place of the old form, or to the end of `file` if no file defines them. A file that has
   * changed meanwhile is not written.
   *
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async saveChanges(options: SaveOptions = {}): Promise<Saves> {
    return saveChanges(this.#lisp, options);
  }

  /**
   * Runs tests of a known framework, or of a system, which it loads.
   *
   * @param name - Of a system, of a suite (a tag of lisp-unit2) or test, or of a package of tests.
   * @returns the running task. Never throws: `result()` reports the errors of `Task.result`, `INVALID_ARGUMENT` among them.
   */
  runTests(name: string, options: TestOptions = {}): Task<TestResults> {
    const prepare = (signal: AbortSignal | undefined) => testCode(this.#lisp, name, { ...options, signal });
    // What is measured is compiled as the user compiles it.
    return startPrepared(this.#start, prepare, options, options?.coverage ? { policy: "keep" } : {});
  }

  /**
   * Compiles and loads a system by ASDF, or a file. An error stops the task: correct the file, and invoke the restart RETRY.
   *
   * @param source - The name of a system, or `{ file }`.
   * @returns the running task, whose `soFar` returns what is loaded. Never throws: `result()` reports the errors of `Task.result`,
   * `INVALID_ARGUMENT` among them.
   *
   * @example
   * const task = client.code.loadSystem("my-app");
   * for await (const event of task) if (event.type === "progress") console.log(event.text);
   * const { notes } = await task.result();
   */
  loadSystem(source: LoadSource, options: LoadOptions = {}): ProgressTask<LoadResult> {
    const prepare = (signal: AbortSignal | undefined) => loadCode(this.#lisp, source, { ...options, signal });
    // Compiled files stay on the disk: they must be as the user's own programs compile them.
    return startRun(this.#start, prepare, options, { policy: "keep" });
  }
}
