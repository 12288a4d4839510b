import { asSwankError, type ImageExit, SwankError } from "../base/errors.js";
import { checkOptions } from "../base/options.js";
import { duplexTransport, type TransportFactory, type TransportOpener } from "../wire/transport.js";
import {
  BackgroundBuild,
  buildOnce,
  type CoreBuildEnd,
  CoreCache,
  hasBegun,
  recordBegun,
  withCompiledSwank,
} from "./core.js";
import { startEcl } from "./ecl.js";
import {
  callForm,
  coreArgs,
  DEFAULT_START_TIMEOUT,
  type LaunchImageOptions,
  type LaunchPlan,
  launchImageOptions,
  lispEnvironment,
  loadSwankForms,
  planLaunch,
  runtimeArgs,
  underDefaultSettings,
} from "./plan.js";
import {
  ENDING_TIME,
  type ImageProcess,
  imageLoss,
  type OutputPart,
  type StartedImage,
  startImage,
} from "./process.js";

/** How an image was started: from an existing core, from a core built for it, or as the Lisp itself starts, with Swank loaded afterwards. */
export type LaunchedFrom = "core" | "built-core" | "loaded";

/** An image that serves this process, and ends with it. */
export class LaunchedImage {
  readonly pid: number;
  readonly how: LaunchedFrom;
  /** Notes for the user about the launch, as sentences. */
  readonly notes: readonly string[];
  readonly #process: ImageProcess;
  #build: BackgroundBuild | undefined;
  #isTaken = false;

  constructor(process: ImageProcess, pid: number, how: LaunchedFrom, notes: readonly string[]) {
    this.#process = process;
    this.pid = pid;
    this.how = how;
    this.notes = notes;
  }

  /**
   * The transport to the image, for `connect({ transport })`. It can be opened once. The image ends when that connection closes.
   */
  readonly transport: TransportOpener = Object.assign((signal?: AbortSignal) => this.#open(signal), {
    takesNoSecret: true,
  });

  async #open(signal: AbortSignal | undefined): Promise<TransportFactory> {
    if (signal?.aborted) throw new SwankError("CANCELLED", `Connecting to image ${this.pid} was cancelled.`);
    if (this.#isTaken)
      throw new SwankError("CONNECTION_CLOSED", `Image ${this.pid} serves one connection, which is already open.`);
    this.#isTaken = true;
    return duplexTransport(this.#process.socket, `image ${this.pid}`, {
      explainEnd: () => imageLoss(this.pid, this.exited),
    });
  }

  /** Resolves when the process has ended. Never rejects. */
  get exited(): Promise<ImageExit> {
    return this.#process.exited;
  }

  /** The end of the build that `buildInBackground` started; `undefined` if it started none. Never rejects. */
  get coreBuild(): Promise<CoreBuildEnd> | undefined {
    return this.#build?.end;
  }

  /** Ends a build together with the image. */
  endWithImage(build: BackgroundBuild): void {
    this.#build = build;
    void this.exited.then(() => build.cancel());
  }

  /** The end of the image's output on stdout and stderr, about 16000 characters. */
  get outputTail(): string {
    return this.#process.outputTail;
  }

  /** The number of characters that the image's process has written to stdout and stderr, as far as they have arrived here. */
  get outputLength(): number {
    return this.#process.outputLength;
  }

  /** What its process has written to stdout and stderr after the first `position` characters, as far as it is kept. */
  outputSince(position: number): OutputPart {
    return this.#process.outputSince(position);
  }

  /**
   * Ends the image, and a build in the background. It runs exit hooks and cleanup forms, and is killed after `time` milliseconds, by default 4000. Resolves when the process
   * has ended. Never rejects.
   */
  async stop(time = ENDING_TIME): Promise<void> {
    await Promise.all([this.#process.stop(time), this.#build?.cancel()]);
  }

  /** Ends the image at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/**
 * Starts an image by loading Swank into it, from compiled files if possible.
 *
 * @throws SwankError `LAUNCH_FAILED`; `CANCELLED`
 */
async function startByLoading(plan: LaunchPlan): Promise<LaunchedImage> {
  const { process, pid } = await withCompiledSwank(plan, (fasls) => startLoading(plan, fasls));
  return new LaunchedImage(process, pid, "loaded", plan.notes);
}

function startLoading(plan: LaunchPlan, fasls: string | undefined): Promise<StartedImage> {
  const { lisp, swankFolder } = plan.ingredients;
  const { cwd, onLog, signal, startTimeout = DEFAULT_START_TIMEOUT, dynamicSpaceSize } = plan.options;
  const forms = [
    underDefaultSettings(loadSwankForms(swankFolder, fasls)),
    callForm("launch:prepare-swank"),
    callForm("launch:serve", process.pid, plan.greeting),
  ];
  const toplevelArgs = ["--no-sysinit", "--no-userinit", "--disable-debugger"];
  return startImage({
    name: "sbcl",
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
  });
}

/** Milliseconds after which a core is considered damaged. Starting normally takes 10 ms. */
const CORE_START_LIMIT = 20_000;

/**
 * Starts an image from the core in the cache. If the core does not exist or does not start, it is built first.
 *
 * @param isBackground - Do not build it: the caller will do so in the background.
 * @returns `undefined` if there is no core to start from; the plan's notes then say why, unless it is to be built in the background
 * @throws SwankError `CANCELLED`; `INVALID_ARGUMENT` if the image does not start with the requested heap
 */
async function startFromCore(
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
  const { cwd, onLog, signal, startTimeout = DEFAULT_START_TIMEOUT } = plan.options;
  return startImage({
    name: "sbcl",
    runtime: plan.ingredients.lisp.runtime,
    args: ["--core", core, ...runtimeArgs(dynamicSpaceSize), "--end-runtime-options", String(process.pid)],
    cwd,
    env: plan.env,
    onLog,
    greeting: plan.greeting,
    timeout: Math.min(startTimeout, CORE_START_LIMIT),
    signal,
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

/**
 * Starts an SBCL or ECL with Swank that serves this process over an inherited socket. It opens no port, so no other program can connect. It ends
 * with this process, or with the worker thread that launched it, in whatever way that ends.
 *
 * The first launch of an SBCL builds a core, which takes some seconds, or with `buildInBackground` loads Swank; later ones start from the core. If that is not
 * possible, and in ECL, Swank is loaded each time.
 * Init files are not loaded: see {@link loadInitFiles}.
 *
 * @throws SwankError `LISP_NOT_FOUND`, `SWANK_NOT_FOUND`, `LAUNCH_FAILED`, `INVALID_ARGUMENT`, `CANCELLED`. No process is left behind then.
 */
export async function launchImage(options: LaunchImageOptions = {}): Promise<LaunchedImage> {
  checkOptions("launchImage", options, launchImageOptions);
  const plan = await planLaunch(options);
  const { lisp } = plan.ingredients;
  if (lisp.implementation === "ECL") return launched(await startEcl(plan), "loaded", plan);
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
