import { symbol } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import type { Caller } from "./caller.js";
import type { ModuleName } from "./descriptor.js";
import { inPackage, type Modules } from "./lisp-runner.js";
import { loadModule } from "./load-module.js";
import { type RuntimeModule, runtimeModule } from "./runtime-source.js";

/** Milliseconds that restricting the client may take. */
const PROTECT_TIME = 60_000;

/** A client's permissions in its image. */
export interface InstallOptions {
  /** `false`: the client may not load anything into the image. */
  readonly runtime?: boolean | undefined;
  /** `false`: the client's code cannot end the image. */
  readonly mayEndImage?: boolean | undefined;
}

/** Loads modules of the runtime into an image, each once per connection when it is first needed. */
export class RuntimeInstaller implements Modules {
  readonly #caller: Caller;
  readonly #options: InstallOptions;
  readonly #modules = new Map<ModuleName, Promise<RuntimeModule>>();
  readonly #loaded = new Map<ModuleName, RuntimeModule>();

  constructor(caller: Caller, options: InstallOptions) {
    this.#caller = caller;
    this.#options = options;
  }

  /** Name of a module's package, if the module is known to be loaded. */
  packageOf(name: ModuleName): string | undefined {
    return this.#loaded.get(name)?.packageName;
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
    const module = await this.#load(runtimeModule(name));
    if (name === "evaluate" && this.#options.mayEndImage === false) await this.#protectImage(module);
    this.#loaded.set(name, module);
    return module;
  }

  /** Makes the client's code unable to end the image. */
  async #protectImage({ packageName }: RuntimeModule): Promise<void> {
    const form = [symbol(inPackage(packageName, "protect-image"))];
    await this.#caller.call(form, { label: "protecting the image", timeout: PROTECT_TIME });
  }

  async #load(module: RuntimeModule): Promise<RuntimeModule> {
    if (this.#options.runtime === false) {
      throw new SwankError("RUNTIME_FORBIDDEN", "This client must load nothing into the image (runtime: false).");
    }
    await loadModule((form, options) => this.#caller.call(form, options), module);
    return module;
  }
}
