import { withCompiledSwank } from "./compiled-swank.js";
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
  const { process, pid } = await withCompiledSwank(plan, (fasls) => startLoading(plan, fasls));
  return new LaunchedImage(process, pid, "loaded", plan.notes);
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
