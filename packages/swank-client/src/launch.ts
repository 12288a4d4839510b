import { checkOptions, type OptionsOf } from "./base/options.js";
import { type ClientOptions, SwankClient } from "./client.js";
import { connectOptions, openClient } from "./connect.js";
import type { OpenedConnection } from "./handshake/handshake.js";
import { type LaunchedImage, launchImage } from "./launch/image.js";
import { launchImageOptions } from "./launch/plan.js";
import { ENDING_TIME } from "./launch/process.js";

/** Milliseconds that an image has to run its exit hooks, even if ending its evaluations has used the time up. */
const LEAST_ENDING_TIME = 500;

/** The only client of an image that `launch` started. */
export class LaunchedClient extends SwankClient {
  /** The image's process. */
  readonly image: LaunchedImage;

  constructor(image: LaunchedImage, opened: OpenedConnection, options: ClientOptions) {
    super({ ...opened, notes: [...image.notes, ...opened.notes] }, options);
    this.image = image;
  }

  /**
   * Ends all evaluations, the connection and the image, which is killed if it does not end within 4 s. Resolves when the process has ended.
   * Never rejects.
   */
  override async close(): Promise<void> {
    const start = performance.now();
    await super.close();
    await this.image.stop(Math.max(LEAST_ENDING_TIME, ENDING_TIME - (performance.now() - start)));
  }
}

const { host, port, transport, secret, cacheDir: _cacheDir, ...launchedOptions } = connectOptions;

/** Options for connecting to an image that this process has launched. */
export interface ConnectLaunchedOptions extends OptionsOf<typeof launchedOptions> {}

const launchOptions = { ...launchImageOptions, ...launchedOptions };

/** Options for launching an image and connecting to it. `signal` cancels both; `timeout` is for connecting, `startTimeout` for starting. */
export interface LaunchOptions extends OptionsOf<typeof launchOptions> {}

/**
 * Starts an SBCL or ECL with Swank and connects to it over an inherited socket. It listens on no port, so no other program can connect. It ends
 * with this process, in whatever way that ends. `client.close()` ends connection and image.
 *
 * The first launch of an SBCL builds a core, which takes some seconds, or with `buildInBackground` loads Swank; later ones start from the core. ECL loads
 * Swank each time. The user's init files are not loaded: see `loadInitFiles`
 * of `swank-client/launch`.
 *
 * @throws SwankError `LISP_NOT_FOUND`, `SWANK_NOT_FOUND`, `LAUNCH_FAILED`, `INVALID_ARGUMENT`, `CANCELLED`, and what `connect` throws. No process
 * is left behind then.
 */
export async function launch(options: LaunchOptions = {}): Promise<LaunchedClient> {
  checkOptions("launch", options, launchOptions);
  const { lisp, swank, cacheDir, useCore, cwd, env, dynamicSpaceSize, runtimeSources, ...others } = options;
  const { warmUp, startTimeout, onLog, onBuild, buildInBackground, ...connecting } = others;
  const places = { lisp, swank, cacheDir, cwd, env };
  const contents = { useCore, dynamicSpaceSize, runtimeSources, warmUp };
  const building = { onLog, onBuild, buildInBackground, startTimeout, signal: options.signal };
  return connectTo(await launchImage({ ...places, ...contents, ...building }), connecting);
}

/**
 * The second half of {@link launch}: connects to an image that `launchImage` started.
 *
 * @throws SwankError `INVALID_ARGUMENT`, and what `connect` throws. The image is ended then.
 */
export async function connectLaunched(
  image: LaunchedImage,
  options: ConnectLaunchedOptions = {},
): Promise<LaunchedClient> {
  try {
    checkOptions("connectLaunched", options, launchedOptions);
  } catch (error) {
    await image.stop();
    throw error;
  }
  return connectTo(image, options);
}

async function connectTo(image: LaunchedImage, options: ConnectLaunchedOptions): Promise<LaunchedClient> {
  try {
    return await openClient(image.transport, options, (opened, own) => new LaunchedClient(image, opened, own));
  } catch (error) {
    await image.stop();
    throw error;
  }
}
