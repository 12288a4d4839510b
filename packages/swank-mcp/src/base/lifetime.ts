import { readFileSync, readlinkSync } from "node:fs";
import { Writable } from "node:stream";
import type { Log } from "./log.js";

/** Waits for a value for some milliseconds. @returns the value, boxed; `undefined` when the time was up. A later rejection is ignored. */
export async function settledWithin<T>(time: number, promise: Promise<T>): Promise<{ readonly value: T } | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, time, undefined);
  });
  try {
    return await Promise.race([promise.then((value) => ({ value })), late]);
  } finally {
    clearTimeout(timer);
    promise.catch(() => {});
  }
}

/** Exit codes after a signal, as shells report them: 128 plus the signal's number. */
const SIGNAL_EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** Longest wait for `Service.close`, in milliseconds. */
const CLOSE_TIME = 5000;

/** How long a hurried exit waits for a reader that takes nothing, in milliseconds. */
const SHORT_PATIENCE = 2000;

/** Why and how the program ends. The first call of `Lifetime.end` counts. */
export interface End {
  readonly why: string;
  readonly exitCode: number;
  /** Running calls may finish first, until an end without `drain` comes. */
  readonly drain?: boolean;
  /** Do not wait for a slow reader. Default: wait for `Service.patience`. */
  readonly hurry?: boolean;
}

/** How a way of serving (stdio, the console, printing a text) ends. */
export interface Service {
  /** Milliseconds that the reader of standard output may take nothing before the unread output is dropped. */
  readonly patience: number;
  /** Exit code when standard output has lost its reader; absent if the program then keeps running. */
  readonly lostReader?: number;
  /** Called at Ctrl-C, which otherwise ends the program. */
  readonly interrupt?: () => void;
  /** Waits for running calls; sets its own time limit. */
  drain?(): Promise<void>;
  /** Answers running calls at once, and accepts no more. */
  cutOff?(): void;
  close?(): Promise<void>;
}

/**
 * The life of the process from start to exit, the same for every way of serving.
 *
 * A signal or a lost reader ends it. Running calls are then drained or cut off, the service is closed, and the reader gets time to read
 * the remaining output.
 */
export class Lifetime {
  readonly #output: OutputQueue;
  readonly #ended: Promise<End>;
  /** The first end without `drain`. */
  readonly #urgent: Promise<End>;
  #resolve: (end: End) => void = () => {};
  #resolveUrgent: (end: End) => void = () => {};
  #log: Log = () => undefined;
  #service: Service | undefined;
  #lostReader: string | undefined;
  /** True after a signal: every later wait is short. */
  #isHurried = false;

  constructor(output: OutputQueue) {
    this.#output = output;
    this.#ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#urgent = new Promise((resolve) => {
      this.#resolveUrgent = resolve;
    });
  }

  /** From now on, logs why the program ends, and the stack of a crash. */
  logTo(log: Log): void {
    this.#log = log;
  }

  end(end: End): void {
    this.#resolve(end);
    if (end.drain !== true) this.#resolveUrgent(end);
  }

  /** Ends the program because of an unexpected error, whose stack goes to standard error and the log. */
  fail(error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`swank-mcp: ${text}\n`);
    this.end({ why: text, exitCode: 1, hurry: true });
  }

  /** Serves until something ends it, and exits. @param begin - Does not wait for the end of the service, which calls `end` when it is done. */
  async run(begin: (lifetime: Lifetime) => Promise<Service>): Promise<never> {
    this.#listen();
    const service = await begin(this).catch((error: unknown): Service => {
      this.fail(error);
      return { patience: SHORT_PATIENCE };
    });
    this.#service = service;
    if (this.#lostReader !== undefined) this.#endUnread(this.#lostReader);
    const end = await this.#awaitEnd(service);
    // From now on Ctrl-C only hurries the exit.
    this.#service = undefined;
    service.cutOff?.();
    await settledWithin(CLOSE_TIME, service.close?.() ?? Promise.resolve());
    return this.#exit(end, service.patience);
  }

  async #awaitEnd(service: Service): Promise<End> {
    const first = await this.#ended;
    this.#log(`ending: ${first.why}`);
    if (first.drain !== true || service.drain === undefined) return first;
    return Promise.race([service.drain().then(() => first), this.#urgent]);
  }

  #listen(): void {
    for (const [signal, exitCode] of Object.entries(SIGNAL_EXIT_CODES))
      process.on(signal, () => this.#signalled(signal, exitCode));
    // These listeners are never removed: a later failed write must not become an uncaught exception.
    process.stdout.on("error", (error) => {
      this.#lostReader ??= error.message;
      this.#endUnread(error.message);
    });
    process.stderr.on("error", () => undefined);
    process.on("uncaughtExceptionMonitor", (error) => this.#log(`crash: ${error.stack ?? error.message}`));
  }

  #signalled(signal: string, exitCode: number): void {
    const interrupt = signal === "SIGINT" ? this.#service?.interrupt : undefined;
    if (interrupt !== undefined) {
      interrupt();
      return;
    }
    this.#isHurried = true;
    this.end({ why: signal, exitCode, hurry: true });
  }

  #endUnread(problem: string): void {
    const exitCode = this.#service?.lostReader;
    if (exitCode !== undefined) this.end({ why: `the output cannot be written: ${problem}`, exitCode });
  }

  /** Exits when the reader of standard output has taken everything, or takes no more. */
  async #exit({ exitCode, hurry = false }: End, patience: number): Promise<never> {
    const isWhole = await this.#output.drain(() => (hurry || this.#isHurried ? SHORT_PATIENCE : patience));
    if (!isWhole)
      process.stderr.write(`swank-mcp: ${this.#output.waiting} bytes of output were lost because nobody read them.\n`);
    await settledWithin(SHORT_PATIENCE, errorsWritten());
    process.exit(isWhole || exitCode !== 0 ? exitCode : 1);
  }
}

/** Resolves when standard error has been written, or cannot be written. */
function errorsWritten(): Promise<void> {
  return new Promise((resolve) => {
    process.stderr.write("", () => resolve());
  });
}

/** How often the parent is looked at, in milliseconds. */
const INTERVAL = 2000;

/** Most launchers, such as npx and shells, between this process and its host. */
const MAX_LAUNCHERS = 8;

/**
 * Calls `onGone` when the host has ended: this process, or one of its launchers, has lost its parent. Other processes that hold the input's pipe
 * hide that: the input then never ends. A launcher is a parent with the same standard input, which only Linux shows. Does nothing for a process
 * that has no parent any more, such as the main process of a container, or one whose launcher has ended. @returns a function that ends this
 */
export function watchParent(onGone: () => void): () => void {
  const watched = launchChain();
  const timer = setInterval(() => {
    if (watched.every(({ pid, parent }) => parentOf(pid) === parent)) return;
    clearInterval(timer);
    onGone();
  }, INTERVAL).unref();
  return () => clearInterval(timer);
}

interface Child {
  readonly pid: number;
  readonly parent: number;
}

/** This process and its launchers, innermost first, without those that have no parent. */
function launchChain(): readonly Child[] {
  const chain: Child[] = [];
  const input = inputOf(process.pid);
  let pid: number = process.pid;
  while (chain.length < MAX_LAUNCHERS) {
    const parent = parentOf(pid);
    if (parent === undefined || parent <= 1) break;
    chain.push({ pid, parent });
    if (input === undefined || inputOf(parent) !== input) break;
    pid = parent;
  }
  return chain;
}

/** The id of a process's parent, or `undefined` if the process is gone or the system does not show it. */
function parentOf(pid: number): number | undefined {
  if (pid === process.pid) return process.ppid;
  try {
    // The second field, the program's name in parentheses, can contain anything.
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined;
  }
}

/** What a process's standard input is, or `undefined` if the system does not show it. */
function inputOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/fd/0`);
  } catch {
    return undefined;
  }
}

/** Bytes written to the stream at a time: small enough to show whether the reader takes anything. */
const PIECE = 64 * 1024;

/** How often `drain` checks whether its time is up, in milliseconds. */
const TICK = 100;

/** Passes bytes on to a stream, and counts those that the reader has not taken. What is written after a failure is dropped. */
export class OutputQueue extends Writable {
  readonly #stream: Writable;
  #taken = 0;
  /** Bytes of the current chunk that the reader has taken. */
  #part = 0;
  /** Ends the current wait of `drain`. */
  #wake: () => void = () => {};
  #fail: () => void = () => {};

  constructor(stream: Writable) {
    super({ highWaterMark: PIECE });
    // The SDK listens for errors once for each message that waits.
    this.setMaxListeners(0);
    this.#stream = stream;
    // A destroyed stream may never call back for the current write.
    stream.once("close", () => this.#fail());
  }

  /** Bytes that the reader has not taken. */
  get waiting(): number {
    return this.writableLength - this.#part;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Waits until the reader has taken everything, and returns true, or has taken nothing for the milliseconds that `patience` returns, which may change. */
  async drain(patience: () => number): Promise<boolean> {
    let quietSince = performance.now();
    while (this.waiting > 0 && performance.now() - quietSince < patience()) {
      const before = this.#taken;
      await this.#progress();
      if (this.#taken > before) quietSince = performance.now();
    }
    return this.waiting === 0;
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    void this.#writePieces(bytes).then(() => {
      this.#part = 0;
      done();
      this.#wake();
    });
  }

  async #writePieces(bytes: Buffer): Promise<void> {
    for (let start = 0; start < bytes.length; start += PIECE) {
      const piece = bytes.subarray(start, start + PIECE);
      if (!(await this.#writePiece(piece))) return;
      this.#taken += piece.length;
      this.#part += piece.length;
      this.#wake();
    }
  }

  /** => whether the system has taken the piece */
  #writePiece(piece: Buffer): Promise<boolean> {
    return new Promise((resolve) => {
      this.#fail = () => resolve(false);
      this.#stream.write(piece, (error) => resolve(!error));
    });
  }

  /** Resolves when the reader has taken something, or after `TICK`. */
  #progress(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, TICK);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
