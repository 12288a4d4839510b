import { SwankError } from "../errors.js";
import { duplexTransport } from "../transport/duplex-transport.js";
import type { TransportFactory, TransportOpener } from "../transport/transport.js";
import type { ImageExit, ImageProcess } from "./image-process.js";

/** What an image was started from: a core that was there, one that was built for it, or SBCL's own with Swank loaded afterwards. */
export type LaunchedFrom = "core" | "built-core" | "loaded";

/** An image that serves this process, and ends with it. */
export class LaunchedImage {
  readonly pid: number;
  readonly how: LaunchedFrom;
  /** What a user may want to know about the launch, sentences. */
  readonly notes: readonly string[];
  readonly #process: ImageProcess;
  #isTaken = false;

  constructor(process: ImageProcess, pid: number, how: LaunchedFrom, notes: readonly string[]) {
    this.#process = process;
    this.pid = pid;
    this.how = how;
    this.notes = notes;
  }

  /**
   * The way to the image, for `connect({ transport })`. It can be opened once: when that connection closes, the image ends.
   */
  readonly transport: TransportOpener = Object.assign((signal?: AbortSignal) => this.#open(signal), {
    takesNoSecret: true,
  });

  async #open(signal: AbortSignal | undefined): Promise<TransportFactory> {
    if (signal?.aborted) throw new SwankError("CANCELLED", `Connecting to image ${this.pid} was cancelled.`);
    if (this.#isTaken)
      throw new SwankError("CONNECTION_CLOSED", `Image ${this.pid} serves one connection, which was opened before.`);
    this.#isTaken = true;
    return duplexTransport(this.#process.socket, `image ${this.pid}`);
  }

  /** Settles when the process is gone; never rejects. */
  get exited(): Promise<ImageExit> {
    return this.#process.exited;
  }

  /** The last of what the image printed on its own stdout and stderr, some 16000 characters. */
  get outputTail(): string {
    return this.#process.outputTail;
  }

  /**
   * Ends the image: it is asked to, and runs its exit hooks and cleanup forms; after 4 seconds it is made to. Settles when it is gone; never rejects.
   */
  stop(): Promise<void> {
    return this.#process.stop();
  }
}
