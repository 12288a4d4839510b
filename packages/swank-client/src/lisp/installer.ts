import { SwankError } from "../base/errors.js";
import type { ModuleName } from "./descriptor.js";
import type { Modules } from "./lisp-runner.js";
import type { OpeningCall } from "./load-forms.js";
import type { ModuleLoader } from "./module-loader.js";
import { type RuntimeModule, runtimeModule } from "./runtime-source.js";

/** What a client may load into its image. */
export interface InstallOptions {
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
    const { runtime, openings } = this.#options;
    if (runtime === false) {
      throw new SwankError("RUNTIME_FORBIDDEN", "This client must load nothing into the image (runtime: false).");
    }
    const module = runtimeModule(name);
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
    const module = runtimeModule(name);
    const loading = this.#loader.load(module, opening).then(() => this.#loaded.set(name, module));
    await loading.catch(() => undefined);
  }
}
