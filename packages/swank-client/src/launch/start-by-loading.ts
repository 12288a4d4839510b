import { asSwankError } from "../base/errors.js";
import { type CompiledSwank, compiledSwank } from "./compiled-swank.js";
import { DEFAULT_START_TIMEOUT } from "./launch-image-options.js";
import type { LaunchPlan } from "./launch-plan.js";
import { LaunchedImage } from "./launched-image.js";
import { coreArgs, lispEnvironment } from "./lisp-arguments.js";
import { callForm, loadSwankForms, underDefaultSettings } from "./lisp-forms.js";
import { type StartedImage, startImage } from "./start-image.js";

/**
 * Starts an image by loading Swank into it, from compiled files if possible.
 *
 * @throws SwankError `LAUNCH_FAILED`; `CANCELLED`
 */
export async function startByLoading(plan: LaunchPlan): Promise<LaunchedImage> {
  const { process, pid } = await startWithFreshFiles(plan);
  return new LaunchedImage(process, pid, "loaded", plan.notes);
}

/** If compiled files cannot be loaded, they are damaged and are compiled again. */
async function startWithFreshFiles(plan: LaunchPlan): Promise<StartedImage> {
  const compiled = await compiledSwank(plan.cacheFolder, plan.key, plan.notes);
  try {
    return await startWith(plan, compiled);
  } catch (error) {
    if (!compiled.isKept || asSwankError(error).code === "CANCELLED") throw error;
    return startWith(plan, await compiledSwank(plan.cacheFolder, plan.key, plan.notes));
  }
}

async function startWith(plan: LaunchPlan, compiled: CompiledSwank): Promise<StartedImage> {
  const started = await startOrDiscard(plan, compiled);
  await compiled.publish();
  return started;
}

async function startOrDiscard(plan: LaunchPlan, compiled: CompiledSwank): Promise<StartedImage> {
  try {
    return await startLoading(plan, compiled.folder);
  } catch (error) {
    await compiled.discard();
    throw error;
  }
}

function startLoading(plan: LaunchPlan, fasls: string | undefined): Promise<StartedImage> {
  const { lisp, swankFolder } = plan.ingredients;
  const { cwd, onLog, onSpawn, signal, startTimeout = DEFAULT_START_TIMEOUT, dynamicSpaceSize } = plan.options;
  const forms = [
    underDefaultSettings(loadSwankForms(swankFolder, fasls)),
    callForm("launch:prepare-swank"),
    callForm("launch:serve", process.pid, plan.greeting),
  ];
  const toplevelArgs = ["--no-sysinit", "--no-userinit", "--disable-debugger"];
  return startImage({
    runtime: lisp.runtime,
    args: [
      ...coreArgs(lisp, dynamicSpaceSize),
      "--end-runtime-options",
      ...toplevelArgs,
      ...forms.flatMap((form) => ["--eval", form]),
    ],
    cwd,
    env: lispEnvironment(lisp, plan.env),
    onLog,
    greeting: plan.greeting,
    timeout: startTimeout,
    signal,
    onSpawn,
  });
}
