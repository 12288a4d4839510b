import type { OptionNames } from "../base/check-arguments.js";

/** Options for launching an image. */
export interface LaunchImageOptions {
  /** SBCL's executable, a path or a name on the PATH. Default: the environment variable `SBCL`, or `sbcl`. */
  readonly lisp?: string | undefined;
  /** Folder of `swank-loader.lisp`. Default: the environment variable `SWANK`, or the result of `findSwank`. */
  readonly swank?: string | undefined;
  /** The folder for cores. Default: `swank-toolkit` in the user's cache folder. */
  readonly cacheDir?: string | undefined;
  /** `false`: load Swank each time instead of starting from a core that contains it. Default: true. */
  readonly useCore?: boolean | undefined;
  /** The image's working folder. Default: this process's. */
  readonly cwd?: string | undefined;
  /** The image's whole environment. Default: this process's. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The largest size of the image's heap, in megabytes. Default: SBCL's. */
  readonly dynamicSpaceSize?: number | undefined;
  /** Lisp texts to load into the core after Swank. They are not loaded into an image without a core. Default: this package's runtime. */
  readonly runtimeSources?: readonly string[] | undefined;
  /**
   * Forms, as sent to Swank, to evaluate once while the core is built, so that slow first calls are done. The build fails if one of them
   * does not return. Default: a client's first requests, if the runtime is the default one.
   */
  readonly warmUp?: readonly string[] | undefined;
  /** Gives up when aborted. Has no effect after the image has started. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds that the image may take to start. Building a core does not count. Default: 60000. */
  readonly startTimeout?: number | undefined;
  /** Called with each line that the image prints on its stdout and stderr, without the newline. */
  readonly onLog?: ((line: string) => void) | undefined;
  /**
   * `true`: the first launch with this SBCL and Swank loads Swank at once, and the core for later launches is built while the image runs, see
   * `LaunchedImage.coreBuild`. If that image ends too early, the next launch builds the core. Default: false, the first launch builds the
   * core.
   */
  readonly buildInBackground?: boolean | undefined;
  /**
   * Called when the launch finds no core: before it builds one, or waits for another process that builds it, which takes some seconds; or,
   * with `true`, before it loads Swank and then builds the core in the background.
   */
  readonly onBuild?: ((isBackground: boolean) => void) | undefined;
  /** Called when a process for the image has been created. What the caller does then takes place while Lisp starts. */
  readonly onSpawn?: (() => void) | undefined;
}

export const LAUNCH_IMAGE_OPTIONS: OptionNames<LaunchImageOptions> = {
  lisp: true,
  swank: true,
  cacheDir: true,
  useCore: true,
  cwd: true,
  env: true,
  dynamicSpaceSize: true,
  runtimeSources: true,
  warmUp: true,
  signal: true,
  startTimeout: true,
  onLog: true,
  buildInBackground: true,
  onBuild: true,
  onSpawn: true,
};

export const DEFAULT_START_TIMEOUT = 60_000;
