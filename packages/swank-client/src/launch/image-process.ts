import { type ChildProcess, spawn } from "node:child_process";
import { Duplex } from "node:stream";
import type { ImageExit } from "../base/error-details.js";
import { SwankError } from "../base/errors.js";
import { imageExit } from "./image-exit.js";
import { OutputLog } from "./output-log.js";
import { within } from "./within.js";

/** Options for starting the process of an image. */
export interface ImageCommand {
  readonly runtime: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onLog: ((line: string) => void) | undefined;
}

/**
 * Milliseconds to wait for remaining output after the image has ended: its child processes may keep the pipes and the socket open.
 */
const DRAIN_TIME = 250;

/** Milliseconds for an image to end after its socket was closed. If an exit hook hangs, it needs up to 3 s. */
export const ENDING_TIME = 4000;

/** Milliseconds for an image to end after each signal. */
const PATIENCE: readonly (readonly [NodeJS.Signals, number])[] = [
  ["SIGTERM", 500],
  ["SIGKILL", 5000],
];

/** A process that runs an image, with the socket that it inherited. */
export class ImageProcess {
  /** This end of the socket. */
  readonly socket: Duplex;
  /** Resolves when the process has ended. Never rejects. */
  readonly exited: Promise<ImageExit>;
  readonly #child: ChildProcess;
  readonly #log: OutputLog;
  #stopping: Promise<void> | undefined;

  /**
   * Starts it in a new session, so that it neither receives Control-C from our terminal nor reads from it.
   *
   * @throws SwankError `LAUNCH_FAILED` if the process cannot be created.
   */
  constructor({ runtime, args, cwd, env, onLog }: ImageCommand) {
    this.#log = new OutputLog(onLog);
    this.#child = spawn(runtime, args, {
      argv0: "sbcl",
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      detached: true,
      cwd,
      env: { ...env },
    });
    this.exited = this.#follow(this.#child);
    const socket = this.#child.stdio[3];
    if (!(socket instanceof Duplex)) throw new SwankError("INTERNAL_ERROR", "The pipe to the image is not a socket.");
    this.socket = socket;
    // A broken socket closes, and the transport that uses it reports the reason.
    socket.on("error", () => undefined);
  }

  /** `undefined` if it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The end of its output on stdout and stderr. */
  get outputTail(): string {
    return this.#log.tail;
  }

  /** The number of characters that it has written to stdout and stderr. */
  get outputLength(): number {
    return this.#log.length;
  }

  /** Kills it, and waits until it has ended. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    this.socket.destroy();
    await this.exited;
  }

  /** Closes its socket, which ends it, and kills it if it does not end within `time` milliseconds. Never rejects. */
  stop(time: number): Promise<void> {
    this.#stopping ??= this.#end(time);
    return this.#stopping;
  }

  async #end(time: number): Promise<void> {
    this.socket.destroy();
    if ((await within(this.exited, time)) !== undefined) return;
    for (const [signal, patience] of PATIENCE) {
      this.#child.kill(signal);
      if ((await within(this.exited, patience)) !== undefined) return;
    }
  }

  #closeStreams(): void {
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    this.socket.destroy();
  }

  #follow(child: ChildProcess): Promise<ImageExit> {
    for (const stream of [child.stdout, child.stderr]) if (stream !== null) this.#log.follow(stream);
    return new Promise((resolve) => {
      const finish = (code: number | null, signal: NodeJS.Signals | null) =>
        resolve(imageExit(code, signal, this.#log.tail));
      child.once("error", (error) => {
        if (child.pid !== undefined) return;
        this.#log.add(`${error.message}\n`);
        finish(null, null);
      });
      child.once("exit", (code, signal) => {
        // One more turn of the event loop, in case it was blocked: pending data is read before the streams are closed.
        const timer = setTimeout(() => setImmediate(() => this.#closeStreams()), DRAIN_TIME);
        child.once("close", () => {
          clearTimeout(timer);
          finish(code, signal);
        });
      });
    });
  }
}
