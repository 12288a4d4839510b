import { checkNumber, checkOptions, checkText } from "../base/check-arguments.js";
import type { ShownFile } from "../calls/definition-text.js";
import { showFile as call } from "../calls/show-file.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import { FILE_OPTIONS, type FileOptions } from "./code-options.js";

/** Lines shown before and after the wanted one. */
const CONTEXT = 20;

/** Asks for lines of a file. */
export async function showFile(lisp: LispRunner, file: string, options: FileOptions): Promise<ShownFile> {
  checkOptions("showFile", options, FILE_OPTIONS);
  checkText("file", file);
  const { line = 1, context = CONTEXT, signal } = options;
  checkNumber("line", line, "a whole number from 1", Number.isSafeInteger(line) && line >= 1);
  checkNumber("context", context, "a whole number from 0", Number.isSafeInteger(context) && context >= 0);
  return lisp.with({ signal }).run(call, file, line, context);
}
