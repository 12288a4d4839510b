import { join } from "node:path";
import { removeQuietly } from "../cache/drafts.js";
import { buildCore, type CoreBuild } from "./build-core.js";
import { withCompiledSwank } from "./compiled-swank.js";
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

async function build(plan: LaunchPlan, cache: CoreCache, options: BuildOptions): Promise<KeptCore> {
  const draft = await cache.makeDraft(plan.key);
  try {
    const core = join(draft, "core");
    await withCompiledSwank(plan, (fasls = draft) => buildCore(core, coreBuild(plan, options, fasls)));
    return await cache.adopt(core, plan.key);
  } finally {
    await removeQuietly(draft);
  }
}

function coreBuild(plan: LaunchPlan, { signal, isBackground }: BuildOptions, fasls: string): CoreBuild {
  const { ingredients, greeting, env, options } = plan;
  return { ingredients, greeting, env, signal, isBackground, fasls, onLog: options.onLog };
}
