import { checkNumber, checkOptions, checkText, type OptionNames } from "../base/check-arguments.js";
import { QUESTION_OPTIONS, type QuestionOptions } from "../base/question-options.js";
import type { ShownFile, ShownSource } from "../calls/definition-text.js";
import { showFile } from "../calls/show-file.js";
import { showSource } from "../calls/show-source.js";
import type { LispRunner } from "../lisp/lisp-runner.js";

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

const NAME_OPTIONS: OptionNames<NameOptions> = { ...QUESTION_OPTIONS, package: true };
const FILE_OPTIONS: OptionNames<FileOptions> = { ...QUESTION_OPTIONS, line: true, context: true };

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
}
