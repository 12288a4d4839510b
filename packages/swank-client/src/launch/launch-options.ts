import type { OptionNames } from "../check-options.js";

/** Which image to launch, and from what. */
export interface LaunchOptions {
  /** SBCL's executable, a path or a name on the PATH. Default: the environment variable `SBCL`, or `sbcl`. */
  readonly lisp?: string | undefined;
  /** Folder of `swank-loader.lisp`. Default: the environment variable `SWANK`, or where `findSwank` finds one. */
  readonly swank?: string | undefined;
  /** Where cores are kept. Default: `swank-toolkit` in the user's cache folder. */
  readonly cacheDir?: string | undefined;
  /** `false`: load Swank each time rather than start from a core that has it. Default: true. */
  readonly useCore?: boolean | undefined;
  /** The image's working folder. Default: this process's. */
  readonly cwd?: string | undefined;
  /** The image's whole environment. Default: this process's. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The most that the image's heap may grow to, in megabytes. Default: SBCL's own. */
  readonly dynamicSpaceSize?: number | undefined;
  /** Texts of Lisp to load into the core after Swank; an image without a core does not get them. Default: this package's runtime. */
  readonly runtimeSources?: readonly string[] | undefined;
  /**
   * Forms, as they are sent to Swank, to evaluate once while the core is built: whatever is slow only the first time is then done.
   * The build fails if one of them does not return. Default: what a client asks
   * first, if the runtime is the default one.
   */
  readonly warmUp?: readonly string[] | undefined;
  /** Gives up when aborted, until the image is up; from then on it means nothing. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds that the image may take to start. Building a core does not count. Default: 60000. */
  readonly startTimeout?: number | undefined;
  /** Gets each line that the image prints on its own stdout and stderr, without the newline. */
  readonly onLog?: ((line: string) => void) | undefined;
}

export const LAUNCH_OPTIONS: OptionNames<LaunchOptions> = {
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
};

export const DEFAULT_START_TIMEOUT = 60_000;
