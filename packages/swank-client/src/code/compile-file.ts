import { checkOptions, checkText, type OptionNames } from "../base/check-arguments.js";
import { SwankError } from "../base/errors.js";
import { QUESTION_OPTIONS, type QuestionOptions } from "../base/question-options.js";
import { type Compilation, compileFileForEmacs, type FileCompilation } from "../calls/swank-compilation.js";
import { loadFile } from "../calls/swank-evaluation.js";
import type { LispRunner } from "../lisp/lisp-runner.js";

/** How a file is compiled, and whether it is loaded. */
export interface CompileFileOptions extends QuestionOptions, Omit<FileCompilation, "load"> {
  /** True: loads the compiled file if there was neither an error nor a warning. `always`: loads it if there is one. Default: false. */
  readonly load?: boolean | "always" | undefined;
}

const OPTIONS: OptionNames<CompileFileOptions> = { ...QUESTION_OPTIONS, load: true, policy: true, faslFolder: true };

/** The result of compiling a file. */
export interface CompiledFile extends Omit<Compilation, "isToLoad"> {
  readonly isLoaded: boolean;
  /** The error that ended loading; `undefined` without one. */
  readonly loadError: SwankError | undefined;
}

/** Compiles a file, and loads the result on request: Swank leaves that to the client (slime.el, `slime-compilation-finished`). */
export async function compileFile(lisp: LispRunner, file: string, options: CompileFileOptions): Promise<CompiledFile> {
  checkOptions("compileFile", options, OPTIONS);
  checkText("file", file);
  const { signal, load = false, ...how } = options;
  const runner = lisp.with({ signal });
  const { isToLoad, ...compiled } = await runner.run(compileFileForEmacs, file, { ...how, load: load !== false });
  const { fasl, succeeded } = compiled;
  if (!isToLoad || fasl === undefined || !(succeeded || load === "always")) {
    return { ...compiled, isLoaded: false, loadError: undefined };
  }
  const loadError = await runner.run(loadFile, fasl).then(() => undefined, errorOfCode);
  return { ...compiled, isLoaded: loadError === undefined, loadError };
}

/** The error if the file's code caused it. @throws any other error */
function errorOfCode(error: unknown): SwankError {
  if (error instanceof SwankError && error.code === "REQUEST_FAILED") return error;
  throw error;
}
