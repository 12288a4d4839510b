import { checkOptions, checkText, checkTexts } from "../base/check-arguments.js";
import type { ClassInfo } from "../calls/class-description.js";
import { classInfo as call } from "../calls/class-info.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import { CLASS_OPTIONS, type ClassOptions } from "./code-options.js";

/** Asks what class and generic function a name means. */
export async function classInfo(lisp: LispRunner, name: string, options: ClassOptions): Promise<ClassInfo> {
  checkOptions("classInfo", options, CLASS_OPTIONS);
  checkText("name", name);
  const { package: packageName, args = [], signal } = options;
  if (packageName !== undefined) checkText("package", packageName);
  checkTexts("args", args);
  return lisp.with({ signal }).run(call, name, packageName, args);
}
