import type { Caller } from "../caller.js";
import { SwankError } from "../errors.js";
import { symbolDescription } from "../runtime/decode-description.js";
import type { RuntimeInstaller } from "../runtime/installer.js";
import type { DescribeOptions, SymbolDescription } from "./symbol-description.js";

/** Milliseconds that the image has to answer; methods of the user's take part in it. */
const ANSWER_TIME = 30_000;

/** Asks the image what symbols mean. */
export class SymbolDescriber {
  readonly #caller: Caller;
  readonly #installer: RuntimeInstaller;

  constructor(caller: Caller, installer: RuntimeInstaller) {
    this.#caller = caller;
    this.#installer = installer;
  }

  /** @throws SwankError `INVALID_ARGUMENT`, and what `Caller.ask` throws. */
  async describe(name: string, { package: packageName, signal }: DescribeOptions): Promise<SymbolDescription> {
    checkText("name", name);
    if (packageName !== undefined) checkText("package", packageName);
    const request = { label: "describing a symbol", timeout: ANSWER_TIME, signal };
    const loading = this.#installer.describe();
    return symbolDescription(
      await this.#caller.ask(loading, (calls) => calls.describeSymbol(name, packageName), request),
    );
  }
}

function checkText(name: string, value: unknown): void {
  if (typeof value !== "string") throw new SwankError("INVALID_ARGUMENT", `${name} is a string, not ${typeof value}.`);
}
