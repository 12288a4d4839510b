import { removeQuietly } from "../cache/drafts.js";
import { buildCore } from "./build-core.js";
import type { CoreCache, KeptCore } from "./core-cache.js";
import { doExclusively } from "./exclusive-work.js";
import type { LaunchPlan } from "./launch-plan.js";

/** How a core is built. */
export interface BuildOptions {
  /** Ends the build. */
  readonly signal: AbortSignal | undefined;
  /** Whether other processes of this machine go first. */
  readonly isBackground: boolean;
  /** Called when this process builds the core itself. */
  readonly onWork?: () => void;
}

/**
 * Builds the core of a plan, or waits for another process that is building it.
 *
 * @returns `undefined` if another process is building it and does not finish
 * @throws SwankError `CORE_BUILD_FAILED`, `CANCELLED`; an `AbortError` if the signal is aborted while waiting
 */
export function buildOnce(plan: LaunchPlan, cache: CoreCache, options: BuildOptions): Promise<KeptCore | undefined> {
  return doExclusively<KeptCore>({
    lockFile: cache.lockFile(plan.key),
    signal: options.signal,
    found: () => cache.find(plan.key),
    work: () => {
      options.onWork?.();
      return build(plan, cache, options);
    },
  });
}

async function build(plan: LaunchPlan, cache: CoreCache, { signal, isBackground }: BuildOptions): Promise<KeptCore> {
  const draft = await cache.makeDraft(plan.key);
  try {
    const { ingredients, greeting, env, options } = plan;
    const core = await buildCore(draft, { ingredients, greeting, env, signal, isBackground, onLog: options.onLog });
    return await cache.adopt(core, plan.key);
  } finally {
    await removeQuietly(draft);
  }
}
