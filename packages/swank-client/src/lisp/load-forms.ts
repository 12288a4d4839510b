import { keyword, list, NIL, quote, read, type Sexp, symbol, T } from "sexp-parser";
import type { LispFunction } from "./descriptor.js";
import { encoded } from "./lisp-runner.js";
import { readLisp } from "./lisp-systems.js";
import type { RuntimeModule } from "./runtime-source.js";

/** A call of a module's function, sent together with the module. */
export interface OpeningCall {
  readonly name: string;
  readonly operands: readonly Sexp[];
}

/** A file that only this user can write, on this machine. */
export interface OwnFile {
  readonly path: string;
  /** Its first line, a secret by which an image on the same machine recognizes it. */
  readonly header: string;
}

const known = new Map<string, Sexp>();

/** A form in the folder `lisp/compat`. */
function form(name: string): Sexp {
  const found = known.get(name) ?? read(readLisp(`compat/${name}`));
  known.set(name, found);
  return found;
}

/** The call that `called` describes, for `callIfLoadedForm`. @throws SwankError `INVALID_ARGUMENT` */
export function openingCall<Args extends readonly unknown[], Result>(
  called: LispFunction<Args, Result>,
  ...args: Args
): OpeningCall {
  return { name: called.name, operands: encoded(called, args).operands };
}

/**
 * Calls a function of a module if the module is loaded. => `(:ok VALUE)`, or `(:failed PROBLEM)` if it is not loaded
 *
 * @param loader - A form that makes a function which loads the module if it is not loaded yet.
 */
export function callIfLoadedForm(module: RuntimeModule, call: OpeningCall | undefined, loader?: Sexp): Sexp {
  const marker = keyword(module.marker);
  const property = (name: string) => list(symbol("cl:get"), marker, keyword(name));
  const load = loader && interpreted(list(form("load-module"), marker, loader, form("default-settings")));
  const isLoaded = load === undefined ? property("ready") : list(symbol("cl:if"), property("ready"), T, load);
  const value = call === undefined ? T : callForm(module, call);
  const failed = list(symbol("cl:list"), keyword("failed"), property("problem"));
  return list(symbol("cl:if"), isLoaded, list(symbol("cl:list"), keyword("ok"), value), failed);
}

/** A compiled module, and the function to call when it is loaded. */
export interface ModuleToLoad {
  readonly module: RuntimeModule;
  readonly file: OwnFile;
  readonly call: OpeningCall | undefined;
}

/**
 * A form that loads a compiled module into the image of a new connection, and calls its function. => the result of `callIfLoadedForm`, or NIL
 *
 * @param after - Another module that it needs, and that another request loads now.
 */
export function earlyForm({ module, file, call }: ModuleToLoad, after?: RuntimeModule): Sexp {
  const load = list(symbol("cl:lambda"), NIL, callIfLoadedForm(module, call, fileLoader(file)));
  return interpreted(list(form("load-early"), after === undefined ? NIL : keyword(after.marker), load));
}

/**
 * A form that evaluates another one without compiling it first, which would take longer than to load a compiled module. It consists of calls,
 * which SBCL does not compile either. An SBCL without this interpreter compiles.
 */
function interpreted(evaluated: Sexp): Sexp {
  const hasInterpreter = list(symbol("cl:find-package"), "SB-EVAL");
  const interpreter = list(symbol("cl:find-symbol"), "EVAL-IN-NATIVE-ENVIRONMENT", "SB-EVAL");
  const evaluator = list(symbol("cl:if"), hasInterpreter, interpreter, quote(symbol("cl:eval")));
  const environment = list(symbol("cl:list"), list(symbol("sb-kernel:make-null-lexenv")));
  return list(symbol("cl:apply"), evaluator, quote(evaluated), list(symbol("cl:if"), hasInterpreter, environment, NIL));
}

/** Names the function by strings: Lisp could not read its symbol before the module is loaded. */
function callForm({ packageName }: RuntimeModule, { name, operands }: OpeningCall): Sexp {
  return list(symbol("cl:funcall"), list(symbol("cl:intern"), name.toUpperCase(), packageName), ...operands);
}

/** A loader for `callIfLoadedForm` that loads the module's texts. */
export function textLoader({ texts }: RuntimeModule): Sexp {
  return list(form("load-texts"), quote([...texts]));
}

/** A loader that loads a compiled module, if the image sees the same file. */
export function fileLoader({ path, header }: OwnFile): Sexp {
  return list(form("load-compiled"), path, header, form("call-with-own-file"));
}

/** A loader that compiles the module in a folder, if the image sees the same folder, and otherwise loads its texts. */
export function compilingLoader(
  module: RuntimeModule,
  { path, header, count }: OwnFile & { readonly count: number },
): Sexp {
  const undocumented = quote(form("expand-undocumented"));
  const own = form("call-with-own-file");
  return list(form("compile-module"), path, count, header, undocumented, own, textLoader(module));
}

let compiling: string | undefined;

/** The forms on which the content of compiled modules depends, as text. Read once. */
export function compilingForms(): string {
  compiling ??= ["default-settings", "same-lisp", "compile-module", "expand-undocumented"]
    .map((name) => readLisp(`compat/${name}`))
    .join("\n");
  return compiling;
}

/** The first form of a compiled module, as text. */
export function sameLispForm(): string {
  return readLisp("compat/same-lisp");
}
