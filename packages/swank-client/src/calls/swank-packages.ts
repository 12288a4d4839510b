import { decode, NIL, type Sexp, symbol, T } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { compilation } from "./swank-compilation.js";

const { boolean, list, map, nullable, oneOf, string, symbolName } = decode;

const names = map(nullable(list(string)), (found): readonly string[] => found ?? []);
const files = map(nullable(list(oneOf(string, symbolName))), (found): readonly string[] => found ?? []);

/** `(swank:list-all-package-names NICKNAMES)`: the names of all packages. */
export const listAllPackageNames = lispFunction({
  name: "swank:list-all-package-names",
  encode: (nicknames: boolean = false): readonly Sexp[] => [nicknames ? T : NIL],
  decode: names,
});

/** `(swank:swank-delete-package "NAME")`: deletes a package. It is an error if there is none. */
export const swankDeletePackage = lispFunction({
  name: "swank:swank-delete-package",
  encode: (name: string) => [name],
  decode: () => undefined,
});

const exporting = (name: string) =>
  lispFunction({
    name,
    contrib: "swank-package-fu",
    encode: (symbolText: string, packageName: string): readonly Sexp[] => [symbolText, packageName],
    decode: boolean,
  });

/** `(swank:export-symbol-for-emacs "SYMBOL" "PACKAGE")`: exports a symbol. */
export const exportSymbolForEmacs = exporting("swank:export-symbol-for-emacs");

/** `(swank:unexport-symbol-for-emacs "SYMBOL" "PACKAGE")`: exports a symbol no longer. */
export const unexportSymbolForEmacs = exporting("swank:unexport-symbol-for-emacs");

/** `(swank:export-structure "NAME" "PACKAGE")`: exports a structure with its constructors, accessors and predicate. => the symbols */
export const exportStructure = lispFunction({
  name: "swank:export-structure",
  contrib: "swank-package-fu",
  encode: (name: string, packageName: string) => [name, packageName],
  decode: files,
});

const ASDF = { contrib: "swank-asdf" } as const;
const system = (name: string): readonly Sexp[] => [name];

/** `(swank:list-asdf-systems)`: the systems that ASDF can find or has loaded. */
export const listAsdfSystems = lispFunction({ ...ASDF, name: "swank:list-asdf-systems", decode: names });

/** `(swank:list-all-systems-in-central-registry)`: the systems in the folders where ASDF looks, loaded or not. */
export const listAllSystemsInCentralRegistry = lispFunction({
  ...ASDF,
  name: "swank:list-all-systems-in-central-registry",
  decode: names,
});

/** `(swank:operate-on-system-for-emacs "SYSTEM" 'OPERATION)`: `asdf:load-op`, `asdf:compile-op` or `asdf:test-op`, with the compiler's notes. */
export const operateOnSystemForEmacs = lispFunction({
  ...ASDF,
  name: "swank:operate-on-system-for-emacs",
  encode: (name: string, operation: string = "asdf:load-op"): readonly Sexp[] => [
    name,
    [symbol("cl:quote"), symbol(operation)],
  ],
  decode: compilation,
});

/** `(swank:reload-system "SYSTEM")`: loads a system's own files again. */
export const reloadSystem = lispFunction({ ...ASDF, name: "swank:reload-system", encode: system, decode: compilation });

/** `(swank:asdf-system-files "SYSTEM")`: the paths of its source files. */
export const asdfSystemFiles = lispFunction({
  ...ASDF,
  name: "swank:asdf-system-files",
  encode: system,
  decode: files,
});

/** `(swank:asdf-system-loaded-p "SYSTEM")`: whether ASDF has loaded it. */
export const asdfSystemLoadedP = lispFunction({
  ...ASDF,
  name: "swank:asdf-system-loaded-p",
  encode: system,
  decode: boolean,
});

/** `(swank:asdf-system-directory "SYSTEM")`: its folder. */
export const asdfSystemDirectory = lispFunction({
  ...ASDF,
  name: "swank:asdf-system-directory",
  encode: system,
  decode: string,
});

/** `(swank:asdf-determine-system "FILE" "PACKAGE")`: the system of a file or of a package; `undefined` if none is known. */
export const asdfDetermineSystem = lispFunction({
  ...ASDF,
  name: "swank:asdf-determine-system",
  encode: (file: string | undefined, packageName: string): readonly Sexp[] => [file ?? NIL, packageName],
  decode: nullable(string),
});

/** `(swank:who-depends-on "SYSTEM")`: the systems that need it. */
export const whoDependsOn = lispFunction({ ...ASDF, name: "swank:who-depends-on", encode: system, decode: names });

/** `(swank:delete-system-fasls "SYSTEM")`: deletes its compiled files. => a sentence */
export const deleteSystemFasls = lispFunction({
  ...ASDF,
  name: "swank:delete-system-fasls",
  encode: system,
  decode: string,
});

/** `(swank:list-quicklisp-systems)`: the systems that Quicklisp offers; an error where it is not loaded. */
export const listQuicklispSystems = lispFunction({
  name: "swank:list-quicklisp-systems",
  contrib: "swank-quicklisp",
  decode: names,
});
