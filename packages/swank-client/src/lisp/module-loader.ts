import { type Decoder, decode, type Sexp, T } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import type { Caller } from "./caller.js";
import type { CompiledModules } from "./compiled-modules.js";
import type { ModuleName } from "./descriptor.js";
import { decodeValue } from "./lisp-runner.js";
import { callIfLoadedForm, compilingLoader, fileLoader, type OpeningCall, textLoader } from "./load-forms.js";
import type { RuntimeModule } from "./runtime-source.js";

const { any, map, nullable, string, tagged, tuple } = decode;

/** Milliseconds that loading may take. Compiling takes about a second, and more while other threads compile. */
export const LOADING_TIME = 60_000;

/** Limits on loading a module. */
export interface LoadLimits {
  /** Milliseconds for each request; default 60000. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Modules that other requests load. */
export interface ModulesUnderWay {
  /** Whether a module is loaded when its request has ended. */
  hasLoaded(name: ModuleName): Promise<boolean>;
}

/** What a request to load a module gave. */
type Loaded = { readonly value: Sexp } | { readonly problem: string | undefined };

const loaded: Decoder<Loaded> = tagged({
  ok: map(tuple(any), ([value]): Loaded => ({ value })),
  failed: map(tuple(nullable(string)), ([problem]): Loaded => ({ problem })),
});

/** Loads modules of the runtime into an image: compiled ones from the cache if the image sees it, otherwise their texts. */
export class ModuleLoader {
  readonly #caller: Pick<Caller, "call">;
  #compiled: CompiledModules | undefined;
  readonly #early: ModulesUnderWay | undefined;

  /**
   * @param compiled - The modules compiled for this image's Lisp, if the image may be on this machine.
   * @param early - The modules that are being loaded already.
   */
  constructor(caller: Pick<Caller, "call">, compiled?: CompiledModules, early?: ModulesUnderWay) {
    this.#caller = caller;
    this.#compiled = compiled;
    this.#early = early;
  }

  /**
   * Loads a module unless it is loaded, and calls one of its functions in the same request.
   *
   * @returns the function's value
   * @throws SwankError `RUNTIME_FAILED`, and the errors of `Caller.call`.
   */
  async load(module: RuntimeModule, call?: OpeningCall, limits: LoadLimits = {}): Promise<Sexp> {
    if (call === undefined && (await this.#early?.hasLoaded(module.name).catch(() => false))) return T;
    const file = await this.#compiled?.find(module);
    const first = await this.#send(callIfLoadedForm(module, call, file && fileLoader(file)), limits);
    if ("value" in first) return first.value;
    // The image has another file, or none, under this name.
    if (file !== undefined && first.problem === undefined) this.#compiled = undefined;
    const second = await this.#loadNew(module, call, limits);
    if ("value" in second) return second.value;
    const problem = second.problem ?? "its lock could not be taken";
    throw new SwankError("RUNTIME_FAILED", `The runtime could not be loaded into the image: ${problem}`);
  }

  async #loadNew(module: RuntimeModule, call: OpeningCall | undefined, limits: LoadLimits): Promise<Loaded> {
    const draft = await this.#compiled?.draft(module);
    if (draft === undefined) return this.#send(callIfLoadedForm(module, call, textLoader(module)), limits);
    try {
      const result = await this.#send(callIfLoadedForm(module, call, compilingLoader(module, draft)), limits);
      if (!(await draft.keep())) this.#compiled = undefined;
      return result;
    } finally {
      await draft.remove();
    }
  }

  async #send(form: Sexp, { timeout = LOADING_TIME, signal }: LoadLimits): Promise<Loaded> {
    const label = "loading the runtime";
    return decodeValue(loaded, await this.#caller.call(form, { label, timeout, signal, compiles: true }), label);
  }
}
