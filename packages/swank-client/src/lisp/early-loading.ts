import { type Decoder, decode, type Sexp } from "sexp-parser";
import { SwankError, type SwankErrorCode } from "../base/errors.js";
import type { Caller } from "./caller.js";
import { type LatestModules, latestModules } from "./compiled-modules.js";
import type { ModuleName } from "./descriptor.js";
import { decodeValue } from "./lisp-runner.js";
import { earlyForm, type OpeningCall } from "./load-forms.js";
import type { ModuleCache } from "./module-cache.js";
import { LOADING_TIME, type LoadLimits } from "./module-loader.js";
import type { RuntimeModule } from "./runtime-source.js";

/** A module to load, and the call to make with it. */
export interface EarlyModule {
  readonly name: ModuleName;
  readonly call?: OpeningCall | undefined;
}

/** A request that was sent. */
interface SentRequest {
  readonly module: RuntimeModule;
  readonly isLoaded: Promise<boolean>;
}

const { nullable, tagged } = decode;

const isLoaded: Decoder<boolean> = decode.map(
  nullable(tagged({ ok: () => ({ isLoaded: true }), failed: () => ({ isLoaded: false }) })),
  (result) => result?.isLoaded ?? false,
);

/** The codes of the errors of a request that a server does not understand. */
const NOT_UNDERSTOOD: readonly SwankErrorCode[] = ["REQUEST_UNREADABLE", "UNEXPECTED_REPLY"];

const LABEL = "loading the runtime";

/**
 * Loads the modules compiled for the Lisp that was used last, which is probably the one that is about to say what it is, with one request for
 * each. Another Lisp refuses them. The connection waits for the first one only.
 */
export class EarlyLoading {
  readonly #cache: ModuleCache;
  readonly #wanted: readonly EarlyModule[];
  #latest: Promise<LatestModules | undefined> | undefined;
  readonly #loaded = new Map<ModuleName, Promise<boolean>>();

  /** @param wanted - In loading order. */
  constructor(cache: ModuleCache, wanted: readonly EarlyModule[]) {
    this.#cache = cache;
    this.#wanted = wanted;
  }

  /** Looks for the Lisp, while the image accepts the connection. Reads no file, and makes none. */
  look(): void {
    this.#latest ??= latestModules(this.#cache).catch(() => undefined);
  }

  /** Sends the requests, when the first request of the connection has been sent. */
  begin(caller: Pick<Caller, "call">, limits: LoadLimits): void {
    this.look();
    let before: Promise<SentRequest | undefined> | undefined;
    for (const wanted of this.#wanted) {
      const sent = this.#send(caller, wanted, before, before === undefined ? limits : {});
      const loaded = sent.then(async (request) => (await request?.isLoaded) ?? false);
      // If the image is refused, nobody waits for it.
      loaded.catch(() => undefined);
      this.#loaded.set(wanted.name, loaded);
      before = sent;
    }
  }

  /**
   * Whether a module is loaded now, and its call was made.
   *
   * @throws SwankError the errors of `Caller.call`
   */
  async hasLoaded(name: ModuleName): Promise<boolean> {
    return (await this.#loaded.get(name)) ?? false;
  }

  async #send(
    caller: Pick<Caller, "call">,
    { name, call }: EarlyModule,
    before: Promise<SentRequest | undefined> | undefined,
    limits: LoadLimits,
  ): Promise<SentRequest | undefined> {
    const after = await before;
    if (before !== undefined && after === undefined) return undefined;
    const found = await (await this.#latest)?.find(name);
    if (found === undefined) return undefined;
    const form = earlyForm({ ...found, call }, after?.module);
    return { module: found.module, isLoaded: this.#ask(caller, form, limits) };
  }

  async #ask(caller: Pick<Caller, "call">, form: Sexp, { timeout = LOADING_TIME, signal }: LoadLimits) {
    try {
      const reply = await caller.call(form, { label: LABEL, timeout, signal, compiles: true });
      if (!decodeValue(isLoaded, reply, LABEL)) return false;
      (await this.#latest)?.noteUsed();
      return true;
    } catch (error) {
      if (error instanceof SwankError && NOT_UNDERSTOOD.includes(error.code)) return false;
      throw error;
    }
  }
}
