import { type Decoder, decode } from "sexp-parser";
import { SwankError, type SwankErrorCode } from "../base/errors.js";
import type { Caller } from "./caller.js";
import { latestModules } from "./compiled-modules.js";
import type { ModuleName } from "./descriptor.js";
import { decodeValue } from "./lisp-runner.js";
import { earlyForm, type OpeningCall } from "./load-forms.js";
import type { ModuleCache } from "./module-cache.js";
import type { LoadLimits } from "./module-loader.js";

/** A module to load, and the call to make with it. */
export interface EarlyModule {
  readonly name: ModuleName;
  readonly call?: OpeningCall | undefined;
}

const { nullable, optional, tagged, tuple } = decode;

const isLoaded: Decoder<boolean> = decode.map(
  nullable(tagged({ ok: () => ({ isLoaded: true }), failed: () => ({ isLoaded: false }) })),
  (result) => result?.isLoaded ?? false,
);

const results = nullable(tuple(isLoaded, optional(isLoaded)));

/** What becomes of a form that another server cannot read or evaluate. */
const NOT_UNDERSTOOD: readonly SwankErrorCode[] = [
  "REQUEST_UNREADABLE",
  "REQUEST_FAILED",
  "REQUEST_ABORTED",
  "UNEXPECTED_REPLY",
];

const LABEL = "loading the runtime";

/**
 * Loads the modules compiled for the Lisp that was used last, which is probably the one that is about to say what it is. Another Lisp refuses
 * them. Nothing is loaded if there are none, and all but the first are left for later if a thread has the compiler's lock.
 */
export class EarlyLoading {
  readonly #cache: ModuleCache;
  readonly #wanted: readonly EarlyModule[];
  #files: ReturnType<typeof latestModules> | undefined;
  #loaded: Promise<readonly ModuleName[]> | undefined;

  /** @param wanted - In loading order. */
  constructor(cache: ModuleCache, wanted: readonly EarlyModule[]) {
    this.#cache = cache;
    this.#wanted = wanted;
  }

  /** Looks for the files, which takes as long as the image needs to accept a connection. */
  look(): void {
    this.#files ??= latestModules(
      this.#cache,
      this.#wanted.map(({ name }) => name),
    );
  }

  /** Loads them with one request. */
  begin(caller: Pick<Caller, "call">, limits: LoadLimits): void {
    this.look();
    this.#loaded ??= this.#load(caller, limits);
    // If the image is refused, nobody waits for it.
    this.#loaded.catch(() => undefined);
  }

  /**
   * The modules that are loaded now, and whose calls have been made.
   *
   * @throws SwankError the errors of `Caller.call`
   */
  async loaded(): Promise<readonly ModuleName[]> {
    return (await this.#loaded) ?? [];
  }

  async #load(caller: Pick<Caller, "call">, { timeout = Number.POSITIVE_INFINITY, signal }: LoadLimits) {
    const found = (await this.#files) ?? [];
    const [first, ...others] = found.map((each, index) => ({ ...each, call: this.#wanted[index]?.call }));
    if (first === undefined) return [];
    try {
      const form = earlyForm([first, ...others]);
      const reply = await caller.call(form, { label: LABEL, timeout, signal, compiles: true });
      const loaded = decodeValue(results, reply, LABEL) ?? [];
      return found.filter((_, index) => loaded[index] === true).map(({ module }) => module.name);
    } catch (error) {
      if (error instanceof SwankError && NOT_UNDERSTOOD.includes(error.code)) return [];
      throw error;
    }
  }
}
