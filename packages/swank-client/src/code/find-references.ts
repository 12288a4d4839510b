import { checkChoice, checkIndex, checkOptions, checkText } from "../base/check-arguments.js";
import { findReferences as call } from "../calls/find-references.js";
import { REFERENCE_KINDS, type ReferenceKind, type References } from "../calls/found-references.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import { LIMIT, REFERENCE_OPTIONS, type ReferenceOptions } from "./code-options.js";

/** Asks for the definitions that refer to a name. */
export async function findReferences(
  lisp: LispRunner,
  name: string,
  kind: ReferenceKind,
  options: ReferenceOptions,
): Promise<References> {
  checkOptions("findReferences", options, REFERENCE_OPTIONS);
  checkText("name", name);
  checkChoice("kind", kind, REFERENCE_KINDS);
  const { package: packageName, start = 0, limit = LIMIT, signal } = options;
  if (packageName !== undefined) checkText("package", packageName);
  checkIndex("start", start);
  checkIndex("limit", limit);
  return lisp.with({ signal }).run(call, { name, package: packageName, kind, start, limit });
}
