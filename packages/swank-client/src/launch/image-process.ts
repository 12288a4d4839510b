import { type ChildProcess, spawn } from "node:child_process";
import { Duplex } from "node:stream";
import { SwankError } from "../errors.js";
import { OutputLog } from "./output-log.js";
import { within } from "./within.js";

/** How a process is to be started that will be an image. */
export interface ImageCommand {
  readonly runtime: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onLog: ((line: string) => void) | undefined;
}

/** How an image ended. */
export interface ImageExit {
  /** Exit code; `undefined` when a signal ended it, or when it could not be started. */
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  /** The last of what it printed on its own stdout and stderr. */
  readonly outputTail: string;
}

/**
 * Milliseconds that what the image has printed and sent may still take to come once it is gone: its child processes may hold the pipes and
 * the socket open.
 */
const LAST_WORDS = 250;

/**
 * Milliseconds for an image to end by itself after its socket was closed, and after each signal. By itself it needs up to 3 seconds, when an
 * exit hook hangs.
 */
const PATIENCE: readonly (readonly [NodeJS.Signals | undefined, number])[] = [
  [undefined, 4000],
  ["SIGTERM", 1000],
  ["SIGKILL", 5000],
];

/** A process that runs an image, with the socket that it inherited. */
export class ImageProcess {
  /** This end of the socket. */
  readonly socket: Duplex;
  /** Settles when the process is gone. Never rejects. */
  readonly exited: Promise<ImageExit>;
  readonly #child: ChildProcess;
  readonly #log: OutputLog;
  #stopping: Promise<void> | undefined;

  /**
   * Starts it, in a session of its own: what is typed at our terminal, Control-C for one, is not meant for it, nor can it read there.
   *
   * @throws SwankError `LAUNCH_FAILED` when the process cannot be made.
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
    // A broken socket closes, and whoever uses it by then learns why.
    socket.on("error", () => undefined);
  }

  /** `undefined` when it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The last of what it printed on its own stdout and stderr. */
  get outputTail(): string {
    return this.#log.tail;
  }

  /** Kills it, and waits until it is gone. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    this.socket.destroy();
    await this.exited;
  }

  /** Closes its socket, which ends it, and does what is needed if it does not. Never rejects. */
  stop(): Promise<void> {
    this.#stopping ??= this.#end();
    return this.#stopping;
  }

  async #end(): Promise<void> {
    this.socket.destroy();
    for (const [signal, patience] of PATIENCE) {
      if (signal !== undefined) this.#child.kill(signal);
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
        resolve({ code: code ?? undefined, signal: signal ?? undefined, outputTail: this.#log.tail });
      child.once("error", (error) => {
        if (child.pid !== undefined) return;
        this.#log.add(`${error.message}\n`);
        finish(null, null);
      });
      child.once("exit", (code, signal) => {
        // Once more through the event loop, in case it was blocked: what has come is read before the streams are closed.
        const timer = setTimeout(() => setImmediate(() => this.#closeStreams()), LAST_WORDS);
        child.once("close", () => {
          clearTimeout(timer);
          finish(code, signal);
        });
      });
    });
  }
}
