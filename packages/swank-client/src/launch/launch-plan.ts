import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { SwankError } from "../errors.js";
import { defaultCacheFolder, prepareCache } from "./cache-folder.js";
import { type CoreIngredients, coreKey } from "./core-key.js";
import { findSwank } from "./find-swank.js";
import { knownLisp } from "./known-lisp.js";
import type { LaunchOptions } from "./launch-options.js";
import { firstRequests, ownRuntime } from "./own-runtime.js";

/** Everything that is known before anything is started. */
export interface LaunchPlan {
  readonly options: LaunchOptions;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly ingredients: CoreIngredients;
  /** Names what images are made of. */
  readonly key: string;
  /** What the image is to say first. */
  readonly greeting: string;
  /** `undefined` when nothing can be kept there. */
  readonly cacheFolder: string | undefined;
  /** For the user, added to as the launch goes on. */
  readonly notes: string[];
}

/**
 * Finds what there is to launch from.
 *
 * @throws SwankError `LISP_NOT_FOUND`, `SWANK_NOT_FOUND`, `INVALID_ARGUMENT`, `CANCELLED`
 */
export async function planLaunch(options: LaunchOptions): Promise<LaunchPlan> {
  await checkOptions(options);
  const env = options.env ?? process.env;
  const { path: cacheFolder, note } = await prepareCache(resolve(options.cacheDir ?? defaultCacheFolder(env)));
  const [lisp, swankFolder] = await Promise.all([knownLisp(cacheFolder, options), findSwank(options)]);
  const ingredients = { lisp, swankFolder, ...runtimeOf(options) };
  const key = await coreKey(ingredients);
  const notes = note === undefined ? [] : [note];
  return { options, env, ingredients, key, greeting: `swank-client image ${key}\n`, cacheFolder, notes };
}

/** The requests that warm up are the runtime's: another one does not know them. */
function runtimeOf({ runtimeSources, warmUp }: LaunchOptions): Pick<CoreIngredients, "runtimeSources" | "warmUp"> {
  if (runtimeSources !== undefined) return { runtimeSources, warmUp: warmUp ?? [] };
  return { runtimeSources: ownRuntime(), warmUp: warmUp ?? firstRequests() };
}

async function checkOptions({ cwd, dynamicSpaceSize, signal }: LaunchOptions): Promise<void> {
  if (signal?.aborted) throw new SwankError("CANCELLED", "Launching the image was cancelled.");
  if (dynamicSpaceSize !== undefined && !(Number.isSafeInteger(dynamicSpaceSize) && dynamicSpaceSize > 0)) {
    throw new SwankError("INVALID_ARGUMENT", `dynamicSpaceSize is a number of megabytes, not ${dynamicSpaceSize}.`);
  }
  if (cwd !== undefined && !(await stat(cwd).catch(() => undefined))?.isDirectory()) {
    throw new SwankError("INVALID_ARGUMENT", `The image cannot work in ${cwd}: there is no such folder.`);
  }
}
