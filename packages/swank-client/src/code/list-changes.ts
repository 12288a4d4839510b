import { checkOptions, checkText } from "../base/check-arguments.js";
import type { Changes } from "../calls/change.js";
import { listChanges as call } from "../calls/list-changes.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import { CHANGES_OPTIONS, type ChangesOptions } from "./code-options.js";

/** Asks how the image differs from its files. */
export async function listChanges(lisp: LispRunner, options: ChangesOptions): Promise<Changes> {
  checkOptions("listChanges", options, CHANGES_OPTIONS);
  const { file, signal } = options;
  if (file !== undefined) checkText("file", file);
  return lisp.with({ signal }).run(call, file);
}
