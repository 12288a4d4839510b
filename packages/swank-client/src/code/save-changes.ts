import { checkOptions, checkText } from "../base/check-arguments.js";
import type { Saves } from "../calls/change.js";
import { saveChanges as call } from "../calls/save-changes.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import { SAVE_OPTIONS, type SaveOptions } from "./code-options.js";

/** Writes definitions to their files, or asks what would be written. */
export async function saveChanges(lisp: LispRunner, options: SaveOptions): Promise<Saves> {
  checkOptions("saveChanges", options, SAVE_OPTIONS);
  const { name, file, dryRun = true, signal } = options;
  if (name !== undefined) checkText("name", name);
  if (file !== undefined) checkText("file", file);
  return lisp.with({ signal }).run(call, name, file, dryRun);
}
