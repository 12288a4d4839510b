import { list, NIL, type Sexp, symbol } from "sexp-parser";
import type { RuntimeModule } from "./runtime-source.js";

/** The calls that the describing module understands, as forms to evaluate. */
export class DescribeCalls {
  readonly #packageName: string;

  constructor(module: RuntimeModule) {
    this.#packageName = module.packageName;
  }

  describeSymbol(name: string, packageName: string | undefined): Sexp {
    return list(symbol(`${this.#packageName}::describe-name`), name, packageName ?? NIL);
  }
}
