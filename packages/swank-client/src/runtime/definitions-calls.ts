import { list, type Sexp, symbol } from "sexp-parser";
import type { RuntimeModule } from "./runtime-source.js";

/** The calls that the module about definitions understands, as forms to evaluate. */
export class DefinitionsCalls {
  readonly #packageName: string;

  constructor(module: RuntimeModule) {
    this.#packageName = module.packageName;
  }

  definitions(): Sexp {
    return list(this.#function("definitions"));
  }

  reset(): Sexp {
    return list(this.#function("reset"));
  }

  #function(name: string): Sexp {
    return symbol(`${this.#packageName}::${name}`);
  }
}
