import { stat } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { checkNumber, checkTimeout } from "../base/check-arguments.js";
import { SwankError } from "../base/errors.js";
import { defaultCacheFolder, prepareCache } from "../cache/cache-folder.js";
import { type CoreIngredients, coreKey } from "./core-key.js";
import { findSwank } from "./find-swank.js";
import { knownLisp } from "./known-lisp.js";
import type { LaunchImageOptions } from "./launch-image-options.js";
import { firstRequests, ownRuntime } from "./own-runtime.js";

/** The data of a launch, collected before anything is started. */
export interface LaunchPlan {
  readonly options: LaunchImageOptions;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly ingredients: CoreIngredients;
  /** Identifies the ingredients of the image. */
  readonly key: string;
  /** The greeting that the image must send first. */
  readonly greeting: string;
  /** `undefined` if no folder can be used. */
  readonly cacheFolder: string | undefined;
  /** Notes for the user. The launch adds to them. */
  readonly notes: string[];
}

/**
 * Finds SBCL, Swank and the cache folder for a launch.
 *
 * @throws SwankError `LISP_NOT_FOUND`, `SWANK_NOT_FOUND`, `INVALID_ARGUMENT`, `CANCELLED`
 */
export async function planLaunch(options: LaunchImageOptions): Promise<LaunchPlan> {
  await checkLaunch(options);
  const env = options.env ?? process.env;
  const { path: cacheFolder, note } = await prepareCache(resolve(options.cacheDir ?? defaultCacheFolder(env)));
  const [lisp, swankFolder] = await Promise.all([
    knownLisp(cacheFolder, options),
    findSwank({ swank: options.swank, env }),
  ]);
  const ingredients = { lisp, swankFolder, ...runtimeOf(options) };
  const key = coreKey(ingredients);
  const notes = note === undefined ? [] : [note];
  return { options, env, ingredients, key, greeting: `swank-client image ${key}\n`, cacheFolder, notes };
}

/** The default warm-up requests need the default runtime. */
function runtimeOf({ runtimeSources, warmUp }: LaunchImageOptions): Pick<CoreIngredients, "runtime" | "warmUp"> {
  if (runtimeSources === undefined) return { runtime: ownRuntime(), warmUp: warmUp ?? firstRequests() };
  return { runtime: { id: runtimeSources, sources: runtimeSources }, warmUp: warmUp ?? [] };
}

async function checkLaunch(options: LaunchImageOptions): Promise<void> {
  const { cwd, dynamicSpaceSize = 1, env = process.env, startTimeout, signal } = options;
  if (signal?.aborted) throw new SwankError("CANCELLED", "Launching the image was cancelled.");
  const isSize = Number.isSafeInteger(dynamicSpaceSize) && dynamicSpaceSize > 0;
  checkNumber("dynamicSpaceSize", dynamicSpaceSize, "a number of megabytes", isSize);
  checkTimeout("startTimeout", startTimeout);
  if (cwd !== undefined && !(await stat(cwd).catch(() => undefined))?.isDirectory()) {
    throw new SwankError("INVALID_ARGUMENT", `The image cannot work in ${cwd}: there is no such folder.`);
  }
  // ASDF, which Swank requires, refuses to be loaded then.
  const home = env["HOME"];
  if (home && !isAbsolute(home)) {
    throw new SwankError(
      "LAUNCH_FAILED",
      `The environment variable HOME is ${home}, but Lisp needs an absolute path.`,
      {
        remedy: "Set HOME to the absolute path of the home folder.",
      },
    );
  }
}
