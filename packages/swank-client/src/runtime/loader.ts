import { type Decoder, decode, keyword, list, NIL, quote, type Sexp, symbol, T } from "sexp-parser";
import type { Abilities, RuntimeKind } from "../base/abilities.js";
import { SwankError } from "../base/errors.js";
import { draftEnding, removeQuietly } from "../files/kept.js";
import { ownCode } from "../wire/sent.js";
import type { Caller } from "./caller.js";
import type { LispFunction, ModuleName } from "./function.js";
import { decodeValue, encoded, type Modules } from "./runner.js";
import { moduleFor, type RuntimeModule, readLisp } from "./runtime.js";
import { slynkText } from "./slynk.js";

const { any, map, nullable, string, tagged, tuple } = decode;

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

/** Symbols of the forms below, read once. */
const APPLY = symbol("cl:apply");
const FUNCALL = symbol("cl:funcall");
const GET = symbol("cl:get");
const IF = symbol("cl:if");
const INTERN = symbol("cl:intern");
const LIST = symbol("cl:list");

const known = new Map<string, Sexp>();

/** A form in the folder `lisp/port`, as it is written there, or for Slynk. */
function form(name: string, kind: RuntimeKind): Sexp {
  const key = `${kind} ${name}`;
  const found =
    known.get(key) ?? ownCode(kind === "sbcl-slynk" ? slynkText(readLisp(`port/${name}`)) : readLisp(`port/${name}`));
  known.set(key, found);
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
  const property = (name: string) => list(GET, keyword(module.marker), keyword(name));
  const isLoaded = load === undefined ? property("ready") : list(IF, property("ready"), T, load);
  const value = call === undefined ? T : callForm(module, call);
  const failed = list(LIST, keyword("failed"), property("problem"));
  return list(IF, isLoaded, list(LIST, keyword("ok"), value), failed);
}

/** Loads a module from a folder, if the image sees the same folder. What is not compiled there yet is compiled first. */
export function loadCompiledForm(module: RuntimeModule, { path, id }: ModuleFolder): Sexp {
  return loadForm(module, NIL, path, id, module.name, draftEnding());
}

/** Loads a module from its texts. */
export function loadTextsForm(module: RuntimeModule): Sexp {
  return loadForm(module, quote([...module.texts]), NIL, NIL, NIL, NIL);
}

/** Loads the portable runtime from its texts. */
function loadPortableForm(module: RuntimeModule): Sexp {
  return list(form("load-portable", module.kind), keyword(module.marker), quote([...module.texts]));
}

function loadForm({ marker, kind }: RuntimeModule, ...source: readonly Sexp[]): Sexp {
  return interpreted(list(form("load-module", kind), keyword(marker), ...source, form("default-settings", kind)));
}

/** True if an SBCL has what `EVALUATOR` and `ENVIRONMENT` name: one may lack any internal. */
const HAS_INTERPRETER = `(cl:if (cl:find-package "SB-EVAL")
  (cl:if (cl:find-symbol "EVAL-IN-NATIVE-ENVIRONMENT" "SB-EVAL") (cl:find-symbol "MAKE-NULL-LEXENV" "SB-KERNEL") nil)
  nil)`;

const EVALUATOR = ownCode(
  `(cl:if ${HAS_INTERPRETER} (cl:find-symbol "EVAL-IN-NATIVE-ENVIRONMENT" "SB-EVAL") 'cl:eval)`,
);

const ENVIRONMENT = ownCode(
  `(cl:if ${HAS_INTERPRETER} (cl:list (cl:funcall (cl:find-symbol "MAKE-NULL-LEXENV" "SB-KERNEL"))) nil)`,
);

/**
 * A form that evaluates another one without compiling it first, which would take longer than to load a compiled module. It consists of calls,
 * which SBCL does not compile either. An SBCL without this interpreter compiles.
 */
function interpreted(evaluated: Sexp): Sexp {
  return list(APPLY, EVALUATOR, quote(evaluated), ENVIRONMENT);
}

/** Names the function by strings: Lisp could not read its symbol before the module is loaded. */
function callForm({ packageName }: RuntimeModule, { name, operands }: OpeningCall): Sexp {
  return list(FUNCALL, list(INTERN, name.toUpperCase(), packageName), ...operands);
}

/** Milliseconds that loading may take. Compiling takes about a second, and more while other threads compile. */
const LOADING_TIME = 60_000;

/** Limits on loading a module. */
export interface LoadLimits {
  /** Milliseconds for each request; default 60000. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a request to load a module gave. */
type Loaded = { readonly value: Sexp } | { readonly problem: string | undefined };

const loaded: Decoder<Loaded> = tagged({
  ok: map(tuple(any), ([value]): Loaded => ({ value })),
  failed: map(tuple(nullable(string)), ([problem]): Loaded => ({ problem })),
});

/** Loads modules of the runtime into an image: from the user's cache if the image sees it, otherwise from their texts. */
export class ModuleLoader {
  readonly #caller: Pick<Caller, "call">;
  #folder: ModuleFolder | undefined;

  /** @param folder - The modules for this image's Lisp, if the image may be on this machine. */
  constructor(caller: Pick<Caller, "call">, folder?: ModuleFolder) {
    this.#caller = caller;
    this.#folder = folder;
  }

  /**
   * Loads a module unless it is loaded, and calls one of its functions in the same request.
   *
   * @returns the function's value
   * @throws SwankError `RUNTIME_FAILED`, and the errors of `Caller.call`.
   */
  async load(module: RuntimeModule, call?: OpeningCall, limits: LoadLimits = {}): Promise<Sexp> {
    const isPortable = module.kind === "portable";
    const compiled =
      isPortable || this.#folder === undefined
        ? undefined
        : await this.#loadCompiled(module, call, limits, this.#folder);
    if (compiled !== undefined) return compiled.value;
    const load = isPortable ? loadPortableForm(module) : loadTextsForm(module);
    const loaded = await this.#send(callIfLoadedForm(module, call, load), limits, !isPortable);
    if ("value" in loaded) return loaded.value;
    const problem = loaded.problem ?? "its lock could not be taken";
    throw new SwankError("RUNTIME_FAILED", `The runtime could not be loaded into the image: ${problem}`);
  }

  async #loadCompiled(module: RuntimeModule, call: OpeningCall | undefined, limits: LoadLimits, folder: ModuleFolder) {
    const loaded = await this.#send(callIfLoadedForm(module, call, loadCompiledForm(module, folder)), limits);
    if ("value" in loaded) return loaded;
    this.#folder = undefined;
    // The image sees the folder, and cannot load what is in it.
    if (loaded.problem !== undefined) await removeQuietly(folder.path);
    return undefined;
  }

  async #send(form: Sexp, { timeout = LOADING_TIME, signal }: LoadLimits, compiles = true): Promise<Loaded> {
    const label = "loading the runtime";
    return decodeValue(loaded, await this.#caller.call(form, { label, timeout, signal, compiles }), label);
  }
}

/** What a client may load into its image. */
interface InstallOptions {
  readonly abilities: Abilities;
  /** `false`: nothing. */
  readonly runtime?: boolean | undefined;
  /** Calls to make with a module when it is loaded. */
  readonly openings?: Partial<Record<ModuleName, OpeningCall>>;
}

/** Loads each module of the runtime that an image lacks when it is first needed, once per connection. */
export class RuntimeInstaller implements Modules {
  readonly #loader: ModuleLoader;
  readonly #options: InstallOptions;
  readonly #modules = new Map<ModuleName, Promise<RuntimeModule>>();
  readonly #loaded = new Map<ModuleName, RuntimeModule>();

  constructor(loader: ModuleLoader, options: InstallOptions) {
    this.#loader = loader;
    this.#options = options;
  }

  /** Name of a module's package, if the module is known to be loaded. */
  packageOf(name: ModuleName): string | undefined {
    return this.#loaded.get(name)?.packageName;
  }

  get abilities(): Abilities {
    return this.#options.abilities;
  }

  /** True if no module was needed yet, so that this client has loaded nothing. */
  get unused(): boolean {
    return this.#modules.size === 0;
  }

  /** @throws SwankError `RUNTIME_FAILED`, `RUNTIME_FORBIDDEN`, and the errors of `Caller.call`. The next call tries again. */
  ensure(name: ModuleName): Promise<RuntimeModule> {
    const known = this.#modules.get(name);
    if (known !== undefined) return known;
    const loading = this.#prepare(name);
    this.#modules.set(name, loading);
    loading.catch(() => this.#modules.delete(name));
    return loading;
  }

  async #prepare(name: ModuleName): Promise<RuntimeModule> {
    // All other modules need `evaluate`, and it describes stops at breakpoints.
    if (name !== "evaluate") await this.ensure("evaluate");
    const { runtime, openings, abilities } = this.#options;
    if (runtime === false) {
      throw new SwankError("RUNTIME_FORBIDDEN", "This client must load nothing into the image (runtime: false).");
    }
    const module = moduleFor(abilities.kind, name);
    // Every connection has loaded `connection`.
    for (const needed of module.dependsOn) if (needed !== "connection") await this.ensure(needed);
    await this.#loader.load(module, openings?.[name]);
    this.#loaded.set(name, module);
    for (const companion of module.companions) await this.#loadCompanion(companion, openings?.[companion]);
    return module;
  }

  /** Loads a companion of a module if there is a call to make with it. Without it, everything else works. */
  async #loadCompanion(name: ModuleName, opening: OpeningCall | undefined): Promise<void> {
    if (opening === undefined) return;
    const module = moduleFor(this.#options.abilities.kind, name);
    const loading = this.#loader.load(module, opening).then(() => this.#loaded.set(name, module));
    await loading.catch(() => undefined);
  }
}
