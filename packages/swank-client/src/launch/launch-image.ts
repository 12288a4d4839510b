import { checkOptions } from "../base/check-arguments.js";
import { BackgroundBuild } from "./background-build.js";
import { hasBegun, recordBegun } from "./begun-builds.js";
import { CoreCache } from "./core-cache.js";
import { LAUNCH_IMAGE_OPTIONS, type LaunchImageOptions } from "./launch-image-options.js";
import { planLaunch } from "./launch-plan.js";
import type { LaunchedImage } from "./launched-image.js";
import { startByLoading } from "./start-by-loading.js";
import { startFromCore } from "./start-from-core.js";

/**
 * Starts an SBCL with Swank that serves this process over an inherited socket. It opens no port, so no other program can connect. It ends
 * with this process, or with the worker thread that launched it, in whatever way that ends.
 *
 * The first launch builds a core, which takes some seconds, or with `buildInBackground` loads Swank; later ones start from the core. If that is not possible, Swank is loaded each time.
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
  const { cacheFolder } = plan;
  if (options.useCore === false || cacheFolder === undefined || lisp.core === undefined) return startByLoading(plan);
  const cache = new CoreCache(cacheFolder, plan.notes);
  const isBackground = options.buildInBackground === true && !(await hasBegun(cacheFolder, plan.key));
  const image = await startFromCore(plan, cache, isBackground);
  if (image !== undefined) return image;
  const loaded = await startByLoading(plan);
  // Otherwise building it has just failed.
  if (isBackground) {
    await recordBegun(cacheFolder, plan.key);
    loaded.endWithImage(new BackgroundBuild(plan, cache));
  }
  return loaded;
}
