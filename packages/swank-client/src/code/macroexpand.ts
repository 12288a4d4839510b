import { checkChoice, checkOptions, checkText } from "../base/check-arguments.js";
import { EXPANSION_MODES, type Expansions } from "../calls/expansion.js";
import { macroexpandCode } from "../calls/macroexpand-code.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import { EXPAND_OPTIONS, type ExpandOptions } from "./code-options.js";

/** Expands the macro calls of forms. */
export async function macroexpand(lisp: LispRunner, code: string, options: ExpandOptions): Promise<Expansions> {
  checkOptions("macroexpand", options, EXPAND_OPTIONS);
  checkText("code", code);
  const { mode = "once", package: packageName, signal } = options;
  checkChoice("mode", mode, EXPANSION_MODES);
  if (packageName !== undefined) checkText("package", packageName);
  return lisp.with({ signal }).run(macroexpandCode, code, mode, packageName);
}
