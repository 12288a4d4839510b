import { decode, keyword, NIL, read, symbol } from "sexp-parser";
import type { Caller } from "../caller.js";
import { decodeValue } from "../decode-value.js";
import { SwankError } from "../errors.js";
import { DebuggerCalls } from "./debugger-calls.js";
import { DefinitionsCalls } from "./definitions-calls.js";
import { DescribeCalls } from "./describe-calls.js";
import { RuntimeCalls } from "./runtime-calls.js";
import { type ModuleName, type RuntimeModule, readLisp, runtimeModule } from "./runtime-source.js";

const { map, string, tagged, tuple } = decode;

/** Milliseconds that loading may take: a tenth of a second as a rule, more when the compiler is busy with something else. */
const LOADING_TIME = 60_000;
/** Milliseconds that looking whether it is there may take, which waits for nothing but the image itself. */
const LOOKING_TIME = 10_000;

/** Gives `undefined` or what went wrong. */
const installed = tagged({ ok: map(tuple(), () => undefined), failed: map(tuple(string), ([message]) => message) });

/** What a client may do to its image. */
export interface InstallOptions {
  /** `false`: nothing may be loaded into it. */
  readonly runtime?: boolean | undefined;
  /** `false`: the client's code cannot end it. */
  readonly mayEndImage?: boolean | undefined;
}

/** Loads the modules of the runtime into an image, each once a connection, when it is first needed. */
export class RuntimeInstaller {
  readonly #caller: Caller;
  readonly #options: InstallOptions;
  readonly #modules = new Map<ModuleName, Promise<RuntimeModule>>();
  #loaded: RuntimeCalls | undefined;

  constructor(caller: Caller, options: InstallOptions) {
    this.#caller = caller;
    this.#options = options;
  }

  /** The calls of the module `evaluate`, if it is known to be loaded. */
  get loaded(): RuntimeCalls | undefined {
    return this.#loaded;
  }

  /** @throws SwankError `RUNTIME_FAILED`, `RUNTIME_FORBIDDEN`, and what `Caller.call` throws; the next call then tries again. */
  async evaluate(): Promise<RuntimeCalls> {
    const module = await this.ensure("evaluate");
    return this.#loaded ?? new RuntimeCalls(module);
  }

  /** @throws SwankError as `evaluate` does. */
  async debugger(): Promise<DebuggerCalls> {
    return new DebuggerCalls(await this.ensure("debugger"));
  }

  /** @throws SwankError as `evaluate` does. */
  async definitions(): Promise<DefinitionsCalls> {
    return new DefinitionsCalls(await this.ensure("definitions"));
  }

  /** @throws SwankError as `evaluate` does. */
  async describe(): Promise<DescribeCalls> {
    return new DescribeCalls(await this.ensure("describe"));
  }

  /** True if nothing was ever needed: this client has left nothing in the image. */
  get unused(): boolean {
    return this.#modules.size === 0;
  }

  /** @throws SwankError as `evaluate` does. */
  ensure(name: ModuleName): Promise<RuntimeModule> {
    const known = this.#modules.get(name);
    if (known !== undefined) return known;
    const loading = this.#prepare(name);
    this.#modules.set(name, loading);
    loading.catch(() => this.#modules.delete(name));
    return loading;
  }

  async #prepare(name: ModuleName): Promise<RuntimeModule> {
    // All others stand on it, and what a breakpoint stops is described by it.
    if (name !== "evaluate") await this.ensure("evaluate");
    const module = await this.#load(runtimeModule(name));
    if (name === "evaluate") await this.#begin(new RuntimeCalls(module));
    return module;
  }

  async #begin(calls: RuntimeCalls): Promise<void> {
    if (this.#options.mayEndImage === false) await this.#protectImage(calls);
    this.#loaded = calls;
  }

  async #protectImage(calls: RuntimeCalls): Promise<void> {
    await this.#caller.call(calls.protectImage(), { label: "protecting the image", timeout: LOADING_TIME });
  }

  async #load(module: RuntimeModule): Promise<RuntimeModule> {
    if (this.#options.runtime === false) {
      throw new SwankError(
        "RUNTIME_FORBIDDEN",
        "This client was told to load nothing into the image (runtime: false).",
      );
    }
    if (await this.#isReady(module)) return module;
    await this.#install(module);
    return module;
  }

  async #isReady({ packageName }: RuntimeModule): Promise<boolean> {
    const form = [symbol("cl:get"), keyword(packageName), keyword("ready")];
    return (await this.#caller.call(form, { label: "looking for the runtime", timeout: LOOKING_TIME })) !== NIL;
  }

  async #install({ packageName, source }: RuntimeModule): Promise<void> {
    const form = [read(readLisp("install")), source, keyword(packageName), read(readLisp("default-settings"))];
    const label = "loading the runtime";
    const problem = decodeValue(installed, await this.#caller.call(form, { label, timeout: LOADING_TIME }), label);
    if (problem !== undefined)
      throw new SwankError("RUNTIME_FAILED", `The runtime could not be loaded into the image: ${problem}`);
  }
}
