import { asSwankError } from "../base/errors.js";
import { buildOnce } from "./build-once.js";
import type { CoreCache } from "./core-cache.js";
import type { LaunchPlan } from "./launch-plan.js";

/** How a build in the background ended. */
export type CoreBuildEnd =
  | { readonly status: "built" }
  /** The image ended first. The next launch builds the core. */
  | { readonly status: "cancelled" }
  | { readonly status: "failed"; readonly reason: string };

/** The building of a core while an image already runs. Other processes of the machine go first. */
export class BackgroundBuild {
  /** Never rejects. */
  readonly end: Promise<CoreBuildEnd>;
  readonly #cancelling = new AbortController();

  constructor(plan: LaunchPlan, cache: CoreCache) {
    this.end = this.#build(plan, cache);
  }

  /** Ends the build, if it is not finished. Resolves when its process has ended. Never rejects. */
  async cancel(): Promise<void> {
    this.#cancelling.abort();
    await this.end;
  }

  async #build(plan: LaunchPlan, cache: CoreCache): Promise<CoreBuildEnd> {
    const { signal } = this.#cancelling;
    try {
      const core = await buildOnce(plan, cache, { signal, isBackground: true });
      return core === undefined
        ? { status: "failed", reason: "Another process is building it and does not finish." }
        : { status: "built" };
    } catch (error) {
      return signal.aborted ? { status: "cancelled" } : { status: "failed", reason: asSwankError(error).message };
    }
  }
}
