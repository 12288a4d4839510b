import { asSwankError, SwankError } from "../base/errors.js";
import { buildOnce } from "./build-once.js";
import type { CoreCache } from "./core-cache.js";
import { DEFAULT_START_TIMEOUT } from "./launch-image-options.js";
import type { LaunchPlan } from "./launch-plan.js";
import { type LaunchedFrom, LaunchedImage } from "./launched-image.js";
import { runtimeArgs } from "./lisp-arguments.js";
import { type StartedImage, startImage } from "./start-image.js";

/** Milliseconds after which a core is considered damaged. Starting normally takes 10 ms. */
const CORE_START_LIMIT = 20_000;

/**
 * Starts an image from the core in the cache. If the core does not exist or does not start, it is built first.
 *
 * @param isBackground - Do not build it: the caller will do so in the background.
 * @returns `undefined` if there is no core to start from; the plan's notes then say why, unless it is to be built in the background
 * @throws SwankError `CANCELLED`; `INVALID_ARGUMENT` if the image does not start with the requested heap
 */
export async function startFromCore(
  plan: LaunchPlan,
  cache: CoreCache,
  isBackground: boolean,
): Promise<LaunchedImage | undefined> {
  // Takes longer than finding the core, and nothing that follows depends on it.
  const tidied = cache.tidy();
  try {
    const image = await startKept(plan, cache);
    if (image !== undefined) return image;
    plan.options.onBuild?.(isBackground);
    return isBackground ? undefined : await startBuilt(plan, cache);
  } catch (error) {
    if (plan.options.signal?.aborted) {
      throw new SwankError("CANCELLED", "Launching the image was cancelled.", { cause: error });
    }
    if (asSwankError(error).code === "INVALID_ARGUMENT") throw error;
    plan.notes.push(
      `No image could be started from a core, so Swank is loaded each time: ${asSwankError(error).message}`,
    );
    return undefined;
  } finally {
    await tidied;
  }
}

/** `undefined` if there is no core, or if it does not start. */
async function startKept(plan: LaunchPlan, cache: CoreCache): Promise<LaunchedImage | undefined> {
  const core = await cache.find(plan.key);
  if (core === undefined) return undefined;
  try {
    return launched(await startCore(plan, core.path, plan.options.dynamicSpaceSize), "core", plan);
  } catch (error) {
    if (plan.options.signal?.aborted) throw error;
    await throwIfHeapUnusable(plan, core.path, error);
    plan.notes.push(`The core ${core.path} did not start and was rebuilt: ${asSwankError(error).message}`);
    await cache.remove(core);
    return undefined;
  }
}

/** `undefined` if another process is building the core and does not finish. Loading Swank is faster then. */
async function startBuilt(plan: LaunchPlan, cache: CoreCache): Promise<LaunchedImage | undefined> {
  let how: LaunchedFrom = "core";
  const core = await buildOnce(plan, cache, {
    signal: plan.options.signal,
    isBackground: false,
    onWork: () => {
      how = "built-core";
    },
  });
  if (core !== undefined) return launched(await startNew(plan, core.path), how, plan);
  plan.notes.push("Another process is building the core, so Swank was loaded this time.");
  return undefined;
}

async function startNew(plan: LaunchPlan, core: string): Promise<StartedImage> {
  try {
    return await startCore(plan, core, plan.options.dynamicSpaceSize);
  } catch (error) {
    if (plan.options.signal?.aborted !== true) await throwIfHeapUnusable(plan, core, error);
    throw error;
  }
}

function startCore(plan: LaunchPlan, core: string, dynamicSpaceSize: number | undefined): Promise<StartedImage> {
  const { cwd, onLog, onSpawn, signal, startTimeout = DEFAULT_START_TIMEOUT } = plan.options;
  return startImage({
    runtime: plan.ingredients.lisp.runtime,
    args: ["--core", core, ...runtimeArgs(dynamicSpaceSize), "--end-runtime-options", String(process.pid)],
    cwd,
    env: plan.env,
    onLog,
    greeting: plan.greeting,
    timeout: Math.min(startTimeout, CORE_START_LIMIT),
    signal,
    onSpawn,
  });
}

/** A core that starts with another heap is intact, so rebuilding it would not help. */
async function throwIfHeapUnusable(plan: LaunchPlan, core: string, cause: unknown): Promise<void> {
  const { dynamicSpaceSize } = plan.options;
  if (dynamicSpaceSize === undefined) return;
  const started = await startCore(plan, core, undefined).catch(() => undefined);
  if (started === undefined) return;
  await started.process.kill();
  throw new SwankError("INVALID_ARGUMENT", `No image can be started with a heap of ${dynamicSpaceSize} MB.`, {
    cause,
    remedy: "Give another dynamicSpaceSize, such as 1024, or omit it.",
  });
}

function launched({ process, pid }: StartedImage, how: LaunchedFrom, plan: LaunchPlan): LaunchedImage {
  return new LaunchedImage(process, pid, how, plan.notes);
}
