import { fileURLToPath } from "node:url";
import { NIL, print, quote, read, type Sexp, symbol } from "sexp-parser";
import { readLisp } from "../runtime/runtime-source.js";

/** Path of a Lisp file of this package. */
export function lispFile(name: string): string {
  return fileURLToPath(new URL(`../../lisp/${name}.lisp`, import.meta.url));
}

/** Text of a form that calls a function of the launcher's Lisp package; lists among the arguments are data. */
export function callForm(name: string, ...args: readonly Sexp[]): string {
  return print([symbol(`swank-client.launch::${name}`), ...args.map((arg) => (Array.isArray(arg) ? quote(arg) : arg))]);
}

/** Text of a form that loads a file, whatever characters its name has. */
export function loadFileForm(path: string): string {
  return print([symbol("cl:load"), [symbol("sb-ext:parse-native-namestring"), path]]);
}

/** Text of a form that reads and evaluates others, one after another, under the settings that SBCL starts with: a core may have others. */
export function underDefaultSettings(forms: readonly string[]): string {
  const settings = print(read(readLisp("default-settings")));
  return `(cl:funcall ${settings} (cl:lambda () (cl:dolist (form '${print(forms)}) (cl:eval (cl:read-from-string form)))))`;
}

/** The forms that load Swank, compiled into `faslFolder` or without compiling, and then the Lisp that serves. */
export function loadSwankForms(swankFolder: string, faslFolder: string | undefined): readonly string[] {
  return [
    loadFileForm(lispFile("launch-parent")),
    callForm("die-with-parent"),
    callForm("close-inherited"),
    loadFileForm(lispFile("launch-swank")),
    callForm("load-swank", swankFolder, faslFolder ?? NIL),
    loadFileForm(lispFile("launch-image")),
    loadFileForm(lispFile("launch-init-files")),
    loadFileForm(lispFile("launch-share")),
  ];
}

/** The Lisp files that a core is made of, besides Swank. */
export const LAUNCH_FILES: readonly string[] = [
  "launch-parent",
  "launch-swank",
  "launch-image",
  "launch-init-files",
  "launch-share",
  "launch-core",
  "default-settings",
].map(lispFile);
