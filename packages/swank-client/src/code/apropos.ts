import { checkChoice, checkIndex, checkOptions, checkText } from "../base/check-arguments.js";
import { aproposNames } from "../calls/apropos-names.js";
import { NAMED_KINDS, type NamesFound } from "../calls/found-names.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import { APROPOS_OPTIONS, type AproposOptions, LIMIT } from "./code-options.js";

/** Searches the names of the image. */
export async function apropos(lisp: LispRunner, pattern: string, options: AproposOptions): Promise<NamesFound> {
  checkOptions("apropos", options, APROPOS_OPTIONS);
  checkText("pattern", pattern);
  const { regexp = false, package: packageName, kind, external = false, limit = LIMIT, signal } = options;
  if (packageName !== undefined) checkText("package", packageName);
  if (kind !== undefined) checkChoice("kind", kind, NAMED_KINDS);
  checkIndex("limit", limit);
  return lisp.with({ signal }).run(aproposNames, { pattern, regexp, package: packageName, kind, external, limit });
}
