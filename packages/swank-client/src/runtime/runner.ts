import { type Decoder, isList, isSymbol, keyword, list, quote, type Sexp, symbol } from "sexp-parser";
import { type Abilities, type Ability, lacksFunction } from "../base/abilities.js";
import { SwankError } from "../base/errors.js";
import { check, checkOptions, type QuestionOptions, type Schema } from "../base/options.js";
import { beforeSending, type CallLimits } from "../base/waiting.js";
import type { Connection } from "../wire/connection.js";
import type { Reply } from "../wire/messages.js";
import { ownCode } from "../wire/sent.js";
import { type Caller, callerOf } from "./caller.js";
import type { LispFunction, ModuleName, Place } from "./function.js";
import { SLYNK_CONTRIBS, slynkName } from "./slynk.js";

/** Milliseconds that a contrib may take to load: SBCL may compile it first. */
const LOADING_TIME = 60_000;

/** The contribs that each connection has loaded or is loading. */
const loaded = new WeakMap<Caller, Map<string, Promise<void>>>();

/**
 * Loads a contrib of SLIME into the image, once for each connection. Swank does nothing if the image has it (swank.lisp, `swank-require`).
 *
 * @throws SwankError `CONTRIB_MISSING` if the image cannot load it, and the errors of a request; the next call tries again.
 */
function loadContrib(
  caller: Caller,
  { contrib: name = "", instead }: Pick<LispFunction<[], unknown>, "contrib" | "instead">,
  label: string,
  abilities: Abilities | undefined,
): Promise<void> {
  const contribs = loaded.get(caller) ?? new Map<string, Promise<void>>();
  loaded.set(caller, contribs);
  const known = contribs.get(name);
  if (known !== undefined) return known;
  const loading =
    abilities?.server === "slynk"
      ? loadOfSlynk(caller, name, { label, instead, image: abilities.implementation })
      : load(caller, name, label, swankRequireForm(name));
  contribs.set(name, loading);
  loading.catch(() => contribs.delete(name));
  return loading;
}

/** @throws SwankError `NOT_SUPPORTED` if SLY has no contrib with the functions of SLIME's */
async function loadOfSlynk(
  caller: Caller,
  name: string,
  { label, instead, image }: { readonly label: string; readonly instead: string | undefined; readonly image: string },
): Promise<void> {
  const own = Object.hasOwn(SLYNK_CONTRIBS, name) ? SLYNK_CONTRIBS[name] : undefined;
  if (own === undefined)
    throw lacksFunction(label, label, {
      image: `Slynk in ${image}`,
      why: `does not have SLIME's contrib ${name}`,
      instead,
    });
  await load(caller, own, label, slynkRequireForm(own));
}

async function load(caller: Caller, name: string, label: string, form: Sexp): Promise<void> {
  try {
    await caller.call(form, { label: `loading ${name}`, timeout: LOADING_TIME });
  } catch (cause) {
    if (!(cause instanceof SwankError) || cause.code !== "REQUEST_FAILED") throw cause;
    throw new SwankError("CONTRIB_MISSING", `${label} needs the contrib ${name}: ${cause.message}`, { cause });
  }
}

function swankRequireForm(name: string): Sexp {
  return list(symbol("swank:swank-require"), quote(list(keyword(name))));
}

/** SLY's contribs are in a folder beside Slynk's, which Slynk knows once SLY has told it. */
function slynkRequireForm(name: string): Sexp {
  return list(
    symbol("cl:progn"),
    ownCode(
      `(slynk:slynk-add-load-paths (cl:list (cl:namestring (cl:merge-pathnames "../contrib/" slynk-loader:*source-directory*))))`,
    ),
    list(symbol("swank:swank-require"), quote(list(name))),
  );
}

/** How Swank's interface to a Lisp says that it lacks a function. */
const NOT_IMPLEMENTED = /\b(?:SWANK\/BACKEND|SLYNK-BACKEND):+\S+ not implemented/i;

/** How a Lisp says that the interface of its Swank, an older one, has no such function. */
const UNDEFINED =
  /\b(?:SWANK\/BACKEND|SLYNK-BACKEND):+\S+ is undefined|\bundefined function:? (?:SWANK\/BACKEND|SLYNK-BACKEND):/i;

/** Loads Lisp code of this package into an image. */
export interface Modules {
  /**
   * Loads a module unless it is loaded.
   *
   * @throws SwankError `RUNTIME_FAILED`, `RUNTIME_FORBIDDEN`, and the errors of a request
   */
  ensure(name: ModuleName): Promise<{ readonly packageName: string }>;
  /** Name of a module's package, if the module is known to be loaded. */
  packageOf(name: ModuleName): string | undefined;
  /** What the image can do; `undefined` where that is not known. */
  readonly abilities?: Abilities;
}

/** Options for calling functions. */
export interface RunOptions extends CallLimits {
  /** Name of the function's current package. Default: the image's global package. */
  readonly package?: string | undefined;
  /** Swank's id of the thread to run in. Default: the thread of the function's descriptor. */
  readonly thread?: number | undefined;
}

const RUN_OPTIONS: Schema = {
  package: check.any(),
  thread: check.any(),
  timeout: check.milliseconds,
  signal: check.signal,
};

/** Calls functions in an image. None of its calls leaves a thread stopped, or one level deeper than it was. */
export class LispRunner {
  readonly #caller: Caller;
  readonly #modules: Modules;
  readonly #options: RunOptions;

  constructor(caller: Caller, modules: Modules, options: RunOptions = {}) {
    this.#caller = caller;
    this.#modules = modules;
    this.#options = options;
  }

  /**
   * A runner with other options.
   *
   * @throws SwankError `INVALID_ARGUMENT`
   */
  with(options: RunOptions): LispRunner {
    checkOptions("with", options, RUN_OPTIONS);
    return new LispRunner(this.#caller, this.#modules, { ...this.#options, ...options });
  }

  /**
   * Calls a function. A call that enters the debugger is unwound. The image also ends a call whose timeout has passed, whose signal is
   * aborted, or whose connection closes.
   *
   * @throws SwankError `REQUEST_FAILED` with the error that it signalled; `REQUEST_ABORTED` if it was unwound and the descriptor has no
   * `unwound`; `UNEXPECTED_REPLY`, `INVALID_ARGUMENT`, `REQUEST_TIMEOUT`, `CANCELLED`; the errors of the descriptor's `refusals`;
   * `RUNTIME_FAILED` or `RUNTIME_FORBIDDEN` if its module cannot be loaded; or the reason of a closed connection.
   */
  async run<Args extends readonly unknown[], Result>(
    called: LispFunction<Args, Result>,
    ...args: Args
  ): Promise<Result> {
    checkDescriptor(called);
    return this.runAt(this.#place(called), called, args);
  }

  /**
   * The same in a place that only the caller knows: loads the module that the function needs, sends the call, and decodes the reply.
   *
   * @throws SwankError the error that a refusal means; `REQUEST_ABORTED`; `UNEXPECTED_REPLY` for a reply of another shape; `INVALID_ARGUMENT`
   * for what cannot be sent; what `Modules.ensure` and `Place.send` throw. Nothing else, whatever the descriptor's functions throw.
   */
  async runAt<Args extends readonly unknown[], Result>(
    place: Place,
    called: LispFunction<Args, Result>,
    args: Args,
    limits: CallLimits = this.#options,
  ): Promise<Result> {
    const { label, operands } = encoded(called, args);
    const ability = abilityFor(called);
    if (ability !== undefined) this.#modules.abilities?.require(ability, label);
    if (called.contrib !== undefined)
      await beforeSending(loadContrib(this.#caller, called, label, this.abilities), label, limits);
    const { timeout = called.timeout, signal } = limits;
    const operator = this.#knownOperator(called) ?? symbol(await operatorOf(called, this.#modules, label, signal));
    const mayLeave = called.unwound !== undefined;
    const sent = place.send([operator, ...operands], { label, mayLeave, timeout, signal });
    const reply = await sent.catch(async (error: unknown) => {
      throw (await this.#lackOf(called, error, label)) ?? this.#afterFailure(error, ability, label);
    });
    return resultOf(called, args, reply, label);
  }

  /** The error of a call to a function that the server does not have, or not for this Lisp; `undefined` if that is not why it failed. */
  async #lackOf<Args extends readonly unknown[], Result>(
    { name, module, ability, instead }: LispFunction<Args, Result>,
    error: unknown,
    label: string,
  ): Promise<SwankError | undefined> {
    const { abilities } = this;
    if (!(error instanceof SwankError) || abilities === undefined || module !== undefined || ability !== undefined)
      return undefined;
    const server = `${abilities.server === "slynk" ? "Slynk" : "Swank"} in ${abilities.implementation}`;
    if (error.code === "REQUEST_FAILED") {
      const [missing] = NOT_IMPLEMENTED.exec(error.message) ?? [];
      if (missing === undefined) return undefined;
      return lacksFunction(label, name, { image: server, why: `cannot do this: ${missing}`, instead });
    }
    const isServers = error.code === "REQUEST_UNREADABLE" && /^s(?:wank|lynk)/i.test(name);
    if (!isServers || (await this.#hasFunction(name))) return undefined;
    return lacksFunction(label, name, { image: server, why: "does not have this function", instead });
  }

  /** Whether the image has a symbol that other packages can read. True if it does not answer. */
  async #hasFunction(name: string): Promise<boolean> {
    const { package: packageName, name: symbolName } = symbol(
      this.abilities?.server === "slynk" ? slynkName(name) : name,
    );
    if (packageName === undefined) return true;
    const form = ownCode(
      `(cl:if (cl:find-package ${JSON.stringify(packageName)}) (cl:nth-value 1 (cl:find-symbol ${JSON.stringify(symbolName)} ${JSON.stringify(packageName)})))`,
    );
    const found = await this.#caller.call(form, { label: `looking for ${name}`, timeout: 5000 }).catch(() => undefined);
    return found === undefined || (isSymbol(found) && found.name === "EXTERNAL");
  }

  /** The error of a call. In a Lisp other than SBCL, it may show that the image lacks what the call needs. Errors of the user's code do not. */
  #afterFailure(error: unknown, ability: Ability | undefined, label: string): unknown {
    const { abilities } = this.#modules;
    const hasFailed = error instanceof SwankError && error.code === "REQUEST_FAILED" && abilities?.kind === "portable";
    if (!hasFailed || ability === undefined) return error;
    const isMissing = NOT_IMPLEMENTED.test(error.message) || UNDEFINED.test(error.message);
    if (!isMissing || !abilities.lose(ability)) return error;
    const { code, message, remedy, details } = abilities.refusal(ability, label);
    return new SwankError(code, `${message} ${error.message}`, { remedy, details, cause: error });
  }

  /** What the image can do; `undefined` where that is not known. */
  get abilities(): Abilities | undefined {
    return this.#modules.abilities;
  }

  /** The symbol of a function that needs no module to be loaded first. */
  #knownOperator<Args extends readonly unknown[], Result>({ name, module }: LispFunction<Args, Result>) {
    const operator = module === undefined ? name : this.operator(name, module);
    return operator === undefined ? undefined : symbol(operator);
  }

  /** True if a module is known to be loaded. */
  hasLoaded(module: ModuleName): boolean {
    return this.#modules.packageOf(module) !== undefined;
  }

  /** Loads a module, unless this client must not, or a limit is reached. @returns whether it is loaded */
  async canUse(module: ModuleName, limits: CallLimits): Promise<boolean> {
    if (this.hasLoaded(module)) return true;
    await beforeSending(this.#modules.ensure(module), `loading ${module}`, limits).catch(() => undefined);
    return this.hasLoaded(module);
  }

  /** The symbol of a module's function, if the module is known to be loaded. */
  operator(name: string, module: ModuleName): string | undefined {
    const packageName = this.#modules.packageOf(module);
    return packageName && inPackage(packageName, name);
  }

  /**
   * The symbol of a module's function, for code that is evaluated. Loads the module unless it is loaded.
   *
   * @throws SwankError `NOT_SUPPORTED`, `RUNTIME_FAILED`, `RUNTIME_FORBIDDEN`, `CANCELLED`
   */
  async loadedOperator(name: string, module: ModuleName, signal?: AbortSignal): Promise<string> {
    this.abilities?.require("runtime", name);
    return operatorOf({ name, module }, this.#modules, name, signal);
  }

  #place<Args extends readonly unknown[], Result>({ name, where }: LispFunction<Args, Result>): Place {
    const { package: packageName, thread = where === "repl-thread" ? where : undefined } = this.#options;
    if (where === "stopped-thread" && thread === undefined) {
      throw new SwankError("INVALID_ARGUMENT", `${name} runs in a stopped thread.`, {
        remedy: "Name the thread, with({ thread }), or call it through the stop: stop.run.",
      });
    }
    return {
      send: (form, { label, timeout, signal }) =>
        this.#caller.reply(form, { label, package: packageName, thread, timeout, signal }),
    };
  }
}

/** What the image must be able to do for a function. */
function abilityFor({ ability, module }: Pick<LispFunction<[], unknown>, "ability" | "module">): Ability | undefined {
  return ability ?? (module === undefined ? undefined : "runtime");
}

/**
 * A runner for a question, with the caller's options.
 *
 * @param owner - The name of the function that takes the options.
 * @throws SwankError `INVALID_ARGUMENT`
 */
export function questionsTo(lisp: LispRunner, owner: string, options: QuestionOptions, schema: Schema): LispRunner {
  checkOptions(owner, options, schema);
  return lisp.with({ signal: options.signal });
}

/** Calls functions through a connection without a client. It never loads code of this package into the image. */
export function runnerOf(connection: Connection): LispRunner {
  return new LispRunner(callerOf(connection), NO_MODULES);
}

const NO_MODULES: Modules = {
  packageOf: () => undefined,
  ensure: async (name) => {
    throw new SwankError(
      "RUNTIME_FORBIDDEN",
      `A connection without a client loads nothing into the image, and cannot load "${name}".`,
    );
  },
};

/** Checks the descriptor for callers without types. `lispFunction` checks all fields. */
function checkDescriptor(called: unknown): void {
  if (typeof called === "object" && called !== null && "name" in called && "decode" in called) return;
  throw new SwankError("INVALID_ARGUMENT", "run takes the descriptor of a Lisp function, made with lispFunction.");
}

/** The name of a call in error messages. @throws SwankError `INVALID_ARGUMENT` */
export function labelOf<Args extends readonly unknown[], Result>(
  called: LispFunction<Args, Result>,
  args: Args,
): string {
  return sound(called, () => called.label?.(...args) ?? called.name);
}

/**
 * The form that calls a function.
 *
 * @param packageName - The package of the function's module. Not needed for a function without one.
 * @throws SwankError `INVALID_ARGUMENT`
 */
export function formOf<Args extends readonly unknown[], Result>(
  called: LispFunction<Args, Result>,
  args: Args,
  packageName?: string,
): Sexp {
  const { operands } = encoded(called, args);
  return [symbol(packageName === undefined ? called.name : inPackage(packageName, called.name)), ...operands];
}

/** The external symbol that names a function of a module. */
function inPackage(packageName: string, name: string): string {
  return `${packageName}:${name}`;
}

/**
 * Decodes a reply of Lisp.
 *
 * @param label - Names the operation in the error's message.
 * @throws SwankError `UNEXPECTED_REPLY` if the reply has another shape
 */
export function decodeValue<Value>(decoder: Decoder<Value>, reply: Sexp, label: string): Value {
  return understood(() => decoder(reply), label);
}

/** What a descriptor makes of a reply. @throws SwankError `UNEXPECTED_REPLY` when it fails, whatever it throws */
function understood<Value>(read: () => Value, label: string): Value {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof SwankError) throw cause;
    throw new SwankError("UNEXPECTED_REPLY", `${label}: ${messageOf(cause)}`, { cause, details: { operation: label } });
  }
}

/** The name of a call, and its argument forms. @throws SwankError `INVALID_ARGUMENT` */
export function encoded<Args extends readonly unknown[], Result>(called: LispFunction<Args, Result>, args: Args) {
  return sound(called, () => {
    if (called.module === undefined) symbol(called.name);
    return { label: labelOf(called, args), operands: [...(called.encode?.(...args) ?? [])] };
  });
}

/** What a descriptor makes of the arguments. @throws SwankError `INVALID_ARGUMENT` when it fails, whatever it throws */
function sound<Value>({ name }: { readonly name: string }, make: () => Value): Value {
  try {
    return make();
  } catch (cause) {
    if (cause instanceof SwankError) throw cause;
    throw new SwankError("INVALID_ARGUMENT", `${name}: ${messageOf(cause)}`, { cause });
  }
}

async function operatorOf(
  { name, module }: { readonly name: string; readonly module?: ModuleName },
  modules: Modules,
  label: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  if (module === undefined) return name;
  const { packageName } = await beforeSending(modules.ensure(module), label, { signal });
  return inPackage(packageName, name);
}

function resultOf<Args extends readonly unknown[], Result>(
  called: LispFunction<Args, Result>,
  args: Args,
  reply: Reply,
  label: string,
): Result {
  if (reply.status === "abort") {
    const { unwound } = called;
    if (unwound !== undefined) return understood(() => unwound(reply.condition), label);
    throw new SwankError("REQUEST_ABORTED", `${label}: aborted in Lisp (${reply.condition}).`, {
      details: { operation: label },
    });
  }
  const { value } = reply;
  const refusal = refusalIn(called, value);
  if (refusal !== undefined) throw understood(() => refusal.decoder(...args)(refusal.rest), label);
  return decodeValue(called.decode, value, label);
}

function refusalIn<Args extends readonly unknown[], Result>({ refusals }: LispFunction<Args, Result>, value: Sexp) {
  if (refusals === undefined || !isList(value)) return undefined;
  const [head, ...rest] = value;
  if (head === undefined || !isSymbol(head) || head.package !== "KEYWORD") return undefined;
  const name = head.name.toLowerCase();
  const decoder = Object.hasOwn(refusals, name) ? refusals[name] : undefined;
  return decoder && { decoder, rest };
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
