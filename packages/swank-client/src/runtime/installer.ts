import { decode, keyword, NIL, read, symbol } from "sexp-parser";
import type { Caller } from "../caller.js";
import { SwankError } from "../errors.js";
import { RuntimeCalls } from "./runtime-calls.js";
import { evaluateRuntime, readLisp } from "./runtime-source.js";

const { map, string, tagged, tuple } = decode;

/** Milliseconds that loading may take: a tenth of a second as a rule, more when the compiler is busy with something else. */
const LOADING_TIME = 60_000;

/** Gives `undefined` or what went wrong. */
const installed = tagged({ ok: map(tuple(), () => undefined), failed: map(tuple(string), ([message]) => message) });

/** Loads the runtime into an image, once a connection, when it is first needed. */
export class RuntimeInstaller {
  readonly #caller: Caller;
  readonly #allowed: boolean;
  #calls: Promise<RuntimeCalls> | undefined;
  #loaded: RuntimeCalls | undefined;

  /** @param allowed - Whether anything may be loaded at all. */
  constructor(caller: Caller, allowed: boolean) {
    this.#caller = caller;
    this.#allowed = allowed;
  }

  /** The runtime's calls, if it is known to be loaded. */
  get loaded(): RuntimeCalls | undefined {
    return this.#loaded;
  }

  /** @throws SwankError `RUNTIME_FAILED`, and what `Caller.call` throws; the next call then tries again. */
  async ensure(): Promise<RuntimeCalls> {
    this.#calls ??= this.#load().catch((error: unknown) => {
      this.#calls = undefined;
      throw error;
    });
    return this.#calls;
  }

  async #load(): Promise<RuntimeCalls> {
    if (!this.#allowed) throw new SwankError("RUNTIME_FORBIDDEN", "This client was told to load nothing into the image (runtime: false).");
    const { packageName, source } = evaluateRuntime();
    const marker = keyword(packageName);
    const label = "loading the runtime";
    const ready = [symbol("cl:get"), marker, keyword("ready")];
    if ((await this.#caller.call(ready, { label })) === NIL) await this.#install(source, packageName);
    this.#loaded = new RuntimeCalls(evaluateRuntime());
    return this.#loaded;
  }

  async #install(source: string, packageName: string): Promise<void> {
    const form = [read(readLisp("install")), source, keyword(packageName)];
    const problem = installed(await this.#caller.call(form, { label: "loading the runtime", timeout: LOADING_TIME }));
    if (problem !== undefined) throw new SwankError("RUNTIME_FAILED", `The runtime could not be loaded into the image: ${problem}`);
  }
}
