import { decode, NIL, quote, symbol, T } from "sexp-parser";
import { call, callsWith, nothing, oneText } from "./call.js";
import { compilation } from "./compiling.js";

const { boolean, list, nullable, oneOf, string, symbolName } = decode;

const names = list(oneOf(string, symbolName));

const ofPackageFu = callsWith({ contrib: "swank-package-fu" });

const inPackage = (name: string, packageName: string) => [name, packageName];

/** Packages. */
export const packages = {
  /** `(swank:list-all-package-names NICKNAMES)`: the names of all packages. */
  listAllPackageNames: call("swank:list-all-package-names", list(string), (nicknames: boolean = false) => [
    nicknames ? T : NIL,
  ]),
  /** `(swank:swank-delete-package "NAME")`: deletes a package. It is an error if there is none. */
  swankDeletePackage: call("swank:swank-delete-package", nothing, oneText),
  /** `(swank:export-symbol-for-emacs "SYMBOL" "PACKAGE")`: exports a symbol. */
  exportSymbolForEmacs: ofPackageFu("swank:export-symbol-for-emacs", boolean, inPackage),
  /** `(swank:unexport-symbol-for-emacs "SYMBOL" "PACKAGE")`: exports a symbol no longer. */
  unexportSymbolForEmacs: ofPackageFu("swank:unexport-symbol-for-emacs", boolean, inPackage),
  /** `(swank:export-structure "NAME" "PACKAGE")`: exports a structure with its constructors, accessors and predicate. => the symbols */
  exportStructure: ofPackageFu("swank:export-structure", names, inPackage),
};

const ofAsdf = callsWith({ contrib: "swank-asdf" });

/** ASDF's and Quicklisp's systems. */
export const systems = {
  /** `(swank:list-asdf-systems)`: the systems that ASDF can find or has loaded. */
  listAsdfSystems: ofAsdf("swank:list-asdf-systems", list(string)),
  /** `(swank:list-all-systems-in-central-registry)`: the systems in the folders where ASDF looks, loaded or not. */
  listAllSystemsInCentralRegistry: ofAsdf("swank:list-all-systems-in-central-registry", list(string)),
  /** `(swank:operate-on-system-for-emacs "SYSTEM" 'OPERATION)`: `asdf:load-op`, `asdf:compile-op` or `asdf:test-op`, with the compiler's notes. */
  operateOnSystemForEmacs: ofAsdf(
    "swank:operate-on-system-for-emacs",
    compilation,
    (name: string, operation: string = "asdf:load-op") => [name, quote(symbol(operation))],
  ),
  /** `(swank:reload-system "SYSTEM")`: loads a system's own files again. */
  reloadSystem: ofAsdf("swank:reload-system", compilation, oneText),
  /** `(swank:asdf-system-files "SYSTEM")`: the paths of its source files. */
  asdfSystemFiles: ofAsdf("swank:asdf-system-files", names, oneText),
  /** `(swank:asdf-system-loaded-p "SYSTEM")`: whether ASDF has loaded it. */
  asdfSystemLoadedP: ofAsdf("swank:asdf-system-loaded-p", boolean, oneText),
  /** `(swank:asdf-system-directory "SYSTEM")`: its folder. */
  asdfSystemDirectory: ofAsdf("swank:asdf-system-directory", string, oneText),
  /** `(swank:asdf-determine-system "FILE" "PACKAGE")`: the system of a file or of a package; `undefined` if none is known. */
  asdfDetermineSystem: ofAsdf(
    "swank:asdf-determine-system",
    nullable(string),
    (file: string | undefined, packageName: string) => [file ?? NIL, packageName],
  ),
  /** `(swank:who-depends-on "SYSTEM")`: the systems that need it. */
  whoDependsOn: ofAsdf("swank:who-depends-on", list(string), oneText),
  /** `(swank:delete-system-fasls "SYSTEM")`: deletes its compiled files. => a sentence */
  deleteSystemFasls: ofAsdf("swank:delete-system-fasls", string, oneText),
  /** `(swank:list-quicklisp-systems)`: the systems that Quicklisp offers; an error where it is not loaded. */
  listQuicklispSystems: callsWith({ contrib: "swank-quicklisp" })("swank:list-quicklisp-systems", list(string)),
};
