import type { Caller } from "../caller.js";
import { checkOptions, checkText } from "../check-options.js";
import { decodeValue } from "../decode-value.js";
import { QUESTION_OPTIONS } from "../question-options.js";
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
  async describe(name: string, options: DescribeOptions): Promise<SymbolDescription> {
    checkOptions("describeSymbol", options, { ...QUESTION_OPTIONS, package: true });
    const { package: packageName, signal } = options;
    checkText("name", name);
    if (packageName !== undefined) checkText("package", packageName);
    const request = { label: "describing a symbol", timeout: ANSWER_TIME, signal };
    const loading = this.#installer.describe();
    const reply = await this.#caller.ask(loading, (calls) => calls.describeSymbol(name, packageName), request);
    return decodeValue(symbolDescription, reply, request.label);
  }
}
