import type { OwnFile } from "./load-forms.js";
import type { RuntimeModule } from "./runtime-source.js";

/** Milliseconds for which a check of a file counts. Afterwards, another client may have replaced the file, whose secret then differs. */
const LIFETIME = 1000;

/** The compiled file of a module that is probably needed soon, which is looked for at once. */
export class Foreseen {
  readonly #module: RuntimeModule;
  readonly #since = performance.now();
  #file: Promise<OwnFile | undefined> | undefined;

  /** @param file - Of the module. Must not reject. */
  constructor(module: RuntimeModule, file: Promise<OwnFile | undefined>) {
    this.#module = module;
    this.#file = file;
  }

  /** The file, once. `undefined` for another module, and when it was looked for too long ago. */
  take(module: RuntimeModule): Promise<OwnFile | undefined> | undefined {
    if (module.name !== this.#module.name) return undefined;
    const file = performance.now() - this.#since < LIFETIME ? this.#file : undefined;
    this.#file = undefined;
    return file;
  }
}
