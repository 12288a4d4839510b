import { keyword, list, NIL, quote, read, type Sexp, symbol, T } from "sexp-parser";
import { draftEnding } from "../files/kept.js";
import type { LispFunction } from "./function.js";
import { encoded } from "./runner.js";
import { type RuntimeModule, readLisp } from "./runtime.js";

/** A call of a module's function, sent together with the module. */
export interface OpeningCall {
  readonly name: string;
  readonly operands: readonly Sexp[];
}

/** A folder with the texts of the modules, and what images have compiled from them. Only this user can write it. */
export interface ModuleFolder {
  readonly path: string;
  /** A secret in it, by which an image on the same machine recognizes it. */
  readonly id: string;
}

const known = new Map<string, Sexp>();

/** A form in the folder `lisp/port`. */
function form(name: string): Sexp {
  const found = known.get(name) ?? read(readLisp(`port/${name}`));
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
 * @param load - A form that loads the module if it is not loaded yet, and gives true if it is loaded.
 */
export function callIfLoadedForm(module: RuntimeModule, call: OpeningCall | undefined, load?: Sexp): Sexp {
  const property = (name: string) => list(symbol("cl:get"), keyword(module.marker), keyword(name));
  const isLoaded = load === undefined ? property("ready") : list(symbol("cl:if"), property("ready"), T, load);
  const value = call === undefined ? T : callForm(module, call);
  const failed = list(symbol("cl:list"), keyword("failed"), property("problem"));
  return list(symbol("cl:if"), isLoaded, list(symbol("cl:list"), keyword("ok"), value), failed);
}

/** Loads a module from a folder, if the image sees the same folder. What is not compiled there yet is compiled first. */
export function loadCompiledForm(module: RuntimeModule, { path, id }: ModuleFolder): Sexp {
  return loadForm(module, NIL, path, id, module.name, draftEnding());
}

/** Loads a module from its texts. */
export function loadTextsForm(module: RuntimeModule): Sexp {
  return loadForm(module, quote([...module.texts]), NIL, NIL, NIL, NIL);
}

function loadForm({ marker }: RuntimeModule, ...source: readonly Sexp[]): Sexp {
  return interpreted(list(form("load-module"), keyword(marker), ...source, form("default-settings")));
}

/**
 * A form that evaluates another one without compiling it first, which would take longer than to load a compiled module. It consists of calls,
 * which SBCL does not compile either. An SBCL without this interpreter compiles.
 */
function interpreted(evaluated: Sexp): Sexp {
  const interpreter = named("EVAL-IN-NATIVE-ENVIRONMENT", "SB-EVAL");
  const makeEnvironment = named("MAKE-NULL-LEXENV", "SB-KERNEL");
  const hasBoth = either(list(symbol("cl:find-package"), "SB-EVAL"), either(interpreter, makeEnvironment, NIL), NIL);
  const environment = list(symbol("cl:list"), list(symbol("cl:funcall"), makeEnvironment));
  const evaluator = either(hasBoth, interpreter, quote(symbol("cl:eval")));
  return list(symbol("cl:apply"), evaluator, quote(evaluated), either(hasBoth, environment, NIL));
}

/** A form for the symbol of SBCL with that name, or NIL: an SBCL may lack any. */
function named(name: string, packageName: string): Sexp {
  return list(symbol("cl:find-symbol"), name, packageName);
}

function either(condition: Sexp, then: Sexp, otherwise: Sexp): Sexp {
  return list(symbol("cl:if"), condition, then, otherwise);
}

/** Names the function by strings: Lisp could not read its symbol before the module is loaded. */
function callForm({ packageName }: RuntimeModule, { name, operands }: OpeningCall): Sexp {
  return list(symbol("cl:funcall"), list(symbol("cl:intern"), name.toUpperCase(), packageName), ...operands);
}
