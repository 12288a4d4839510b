import { checkOptions } from "../check-options.js";
import { LAUNCH_OPTIONS, type LaunchOptions } from "./launch-options.js";
import { planLaunch } from "./launch-plan.js";
import type { LaunchedImage } from "./launched-image.js";
import { startByLoading } from "./start-by-loading.js";
import { startFromCore } from "./start-from-core.js";

/**
 * Starts an SBCL of our own with Swank in it, which serves this process over an inherited socket: there is no port, nobody else can connect,
 * and it ends with this process, or the worker thread that launches it, however that ends.
 *
 * The first launch builds a core, which takes some seconds; later ones start from it. Where that is not possible, Swank is loaded each time.
 * Init files are not loaded: see {@link loadInitFiles}.
 *
 * @throws SwankError `LISP_NOT_FOUND`, `SWANK_NOT_FOUND`, `LAUNCH_FAILED`, `INVALID_ARGUMENT`, `CANCELLED`. No process is left behind then.
 */
export async function launchImage(options: LaunchOptions = {}): Promise<LaunchedImage> {
  checkOptions("launchImage", options, LAUNCH_OPTIONS);
  const plan = await planLaunch(options);
  const { lisp } = plan.ingredients;
  if (options.useCore !== false && lisp.core === undefined) {
    plan.notes.push(
      `${lisp.runtime} has its core built in, so no other can be made for it, and Swank is loaded each time.`,
    );
  }
  const mayUseCore = options.useCore !== false && plan.cacheFolder !== undefined && lisp.core !== undefined;
  const image = mayUseCore ? await startFromCore(plan, plan.cacheFolder) : undefined;
  return image ?? startByLoading(plan);
}
