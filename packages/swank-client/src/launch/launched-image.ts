import type { ImageExit } from "../base/error-details.js";
import { SwankError } from "../base/errors.js";
import { duplexTransport } from "../protocol/transport/duplex-transport.js";
import type { TransportFactory, TransportOpener } from "../protocol/transport/transport.js";
import type { BackgroundBuild, CoreBuildEnd } from "./background-build.js";
import { imageLoss } from "./image-exit.js";
import { ENDING_TIME, type ImageProcess } from "./image-process.js";

/** How an image was started: from an existing core, from a core built for it, or from SBCL's core with Swank loaded afterwards. */
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
