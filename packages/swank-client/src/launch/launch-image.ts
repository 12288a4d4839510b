import { checkOptions } from "../base/check-arguments.js";
import { LAUNCH_IMAGE_OPTIONS, type LaunchImageOptions } from "./launch-image-options.js";
import { planLaunch } from "./launch-plan.js";
import type { LaunchedImage } from "./launched-image.js";
import { startByLoading } from "./start-by-loading.js";
import { startFromCore } from "./start-from-core.js";

/**
 * Starts an SBCL with Swank that serves this process over an inherited socket. It opens no port, so no other program can connect. It ends
 * with this process, or with the worker thread that launched it, in whatever way that ends.
 *
 * The first launch builds a core, which takes some seconds; later ones start from it. If that is not possible, Swank is loaded each time.
 * Init files are not loaded: see {@link loadInitFiles}.
 *
 * @throws SwankError `LISP_NOT_FOUND`, `SWANK_NOT_FOUND`, `LAUNCH_FAILED`, `INVALID_ARGUMENT`, `CANCELLED`. No process is left behind then.
 */
export async function launchImage(options: LaunchImageOptions = {}): Promise<LaunchedImage> {
  checkOptions("launchImage", options, LAUNCH_IMAGE_OPTIONS);
  const plan = await planLaunch(options);
  const { lisp } = plan.ingredients;
  if (options.useCore !== false && lisp.core === undefined) {
    plan.notes.push(
      `${lisp.runtime} contains its core, so no other core can be built for it, and Swank is loaded each time.`,
    );
  }
  const mayUseCore = options.useCore !== false && plan.cacheFolder !== undefined && lisp.core !== undefined;
  const image = mayUseCore ? await startFromCore(plan, plan.cacheFolder) : undefined;
  return image ?? startByLoading(plan);
}
