import { fileURLToPath } from "node:url";
import { NIL, print, quote, read, type Sexp, symbol } from "sexp-parser";
import { LISP_FOLDER } from "../lisp/lisp-folder.js";
import { readLisp } from "../lisp/lisp-systems.js";

/** Path of a Lisp file of this package. */
export function lispFile(name: string): string {
  return fileURLToPath(new URL(`${name}.lisp`, LISP_FOLDER));
}

/** Text of a form that calls a function of the launcher's Lisp code, `PACKAGE:NAME`. Lists among the arguments are data. */
export function callForm(name: string, ...args: readonly Sexp[]): string {
  return print([symbol(`swank-client/${name}`), ...args.map((arg) => (Array.isArray(arg) ? quote(arg) : arg))]);
}

/** Text of a form that loads a file, whatever characters its name has. */
export function loadFileForm(path: string): string {
  return print([symbol("cl:load"), [symbol("sb-ext:parse-native-namestring"), path]]);
}

/** Text of a form that reads and evaluates other forms in order, under SBCL's default settings, which a core may have changed. */
export function underDefaultSettings(forms: readonly string[]): string {
  const settings = print(read(readLisp("compat/default-settings")));
  return `(cl:funcall ${settings} (cl:lambda () (cl:dolist (form '${print(forms)}) (cl:eval (cl:read-from-string form)))))`;
}

/** The launcher's Lisp files that are loaded before Swank, and those loaded after it. */
const BEFORE_SWANK = ["compat/sbcl", "compat/swank-loader", "launch/parent", "launch/swank"];
const AFTER_SWANK = ["compat/swank", "launch/package", "launch/image", "launch/init-files", "launch/share"];

/** The forms that load Swank, compiled into `faslFolder` or not compiled, and then the launcher's Lisp code. */
export function loadSwankForms(swankFolder: string, faslFolder: string | undefined): readonly string[] {
  return [
    ...BEFORE_SWANK.map(lispFile).map(loadFileForm),
    callForm("process:die-with-parent"),
    callForm("process:close-inherited"),
    callForm("process:load-swank", swankFolder, faslFolder ?? NIL),
    ...AFTER_SWANK.map(lispFile).map(loadFileForm),
  ];
}

/** The Lisp files in a core, besides Swank. */
export const LAUNCH_FILES: readonly string[] = [
  ...BEFORE_SWANK,
  ...AFTER_SWANK,
  "launch/core",
  "compat/default-settings",
].map(lispFile);
