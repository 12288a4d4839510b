import { checkOptions, checkText } from "../base/check-arguments.js";
import type { ShownSource } from "../calls/definition-text.js";
import { showSource as call } from "../calls/show-source.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import { NAME_OPTIONS, type NameOptions } from "./code-options.js";

/** Asks for the text of all definitions of a name. */
export async function showSource(lisp: LispRunner, name: string, options: NameOptions): Promise<ShownSource> {
  checkOptions("showSource", options, NAME_OPTIONS);
  checkText("name", name);
  const { package: packageName, signal } = options;
  if (packageName !== undefined) checkText("package", packageName);
  return lisp.with({ signal }).run(call, name, packageName);
}
