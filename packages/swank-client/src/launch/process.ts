import { type ChildProcess, spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import { Duplex, type Readable } from "node:stream";
import { type ImageExit, SwankError } from "../base/errors.js";
import { callListener } from "../base/events.js";
import { eitherSignal, onLimit, within } from "../base/waiting.js";

/** Matches SBCL's messages about unhandled errors and about errors that end the process. */
const MESSAGES: readonly RegExp[] = [
  /^Unhandled [\s\S]*?(?=\n\s*\nBacktrace)/m,
  /^Heap exhausted during .*$/m,
  /^fatal error encountered[\s\S]*?(?=\n\s*\n|\s*$(?![\s\S]))/m,
  /^CORRUPTION WARNING[\s\S]*?(?=\n\s*\n|\s*$(?![\s\S]))/m,
];

/**
 * Matches SBCL's reports of problems that the process has survived: an allocation that found no memory signals a condition (gencgc.c), and
 * memory that may be corrupted is not the end by default (interr.c).
 */
const SURVIVED: readonly RegExp[] = [
  /^Heap exhausted during allocation:(?:(?!^Heap exhausted)[\s\S])*?\*STOP-FOR-GC-PENDING\* = .*\n?(?!fatal error|Heap exhausted, game over)/gm,
  /^CORRUPTION WARNING(?:(?!^CORRUPTION WARNING)[\s\S])*?^Continuing with fingers crossed\..*\n?/gm,
];

/** Matches lines for SBCL's developers only: frames of its C backtrace, remarks. */
const NOISE = /^(?:INFO: |\s*\d+: fp=0x)/;

/** Most characters returned. */
const MOST = 1000;

/**
 * The part of SBCL's output that says what went wrong: the message of the last problem without the backtrace, or the last lines if there
 * is no such message.
 */
export function lispProblem(output: string): string {
  const rest = SURVIVED.reduce((text, pattern) => text.replaceAll(pattern, ""), output);
  const messages = MESSAGES.flatMap((pattern) => pattern.exec(rest)?.[0] ?? []);
  return (messages.join("\n") || lastLines(rest)).slice(-MOST);
}

function lastLines(output: string): string {
  const lines = output.trim().split("\n");
  return lines
    .filter((line) => !NOISE.test(line))
    .slice(-12)
    .join("\n");
}

/** Milliseconds to wait for the exit of an image whose connection has ended. */
const EXIT_TIME = 2000;

/**
 * SBCL's words at a garbage collection without memory, which always end it (gencgc.c, `gc_heap_exhausted_error_or_lose`). Instead of the last
 * ones, a failed check of SBCL itself can follow the first: "GC invariant lost".
 */
const HEAP_EXHAUSTED = /^Heap exhausted during garbage collection|Heap exhausted, game over/m;

/** What is known of an image that has ended. */
function imageExit(code: number | null, signal: NodeJS.Signals | null, outputTail: string): ImageExit {
  return {
    code: code ?? undefined,
    signal: signal ?? undefined,
    heapExhausted: HEAP_EXHAUSTED.test(outputTail),
    problem: code === 0 ? "" : lispProblem(outputTail),
    outputTail,
  };
}

/** The loss of an image that ends as its connection does; `undefined` if it does not end soon. */
export async function imageLoss(pid: number, exited: Promise<ImageExit>): Promise<SwankError | undefined> {
  const exit = await within(exited, { timeout: EXIT_TIME });
  if (exit === undefined) return undefined;
  const how = exit.signal === undefined ? `ended with exit code ${exit.code}` : `was killed by ${exit.signal}`;
  const said = exit.problem === "" ? "" : ` Its last output:\n${exit.problem}`;
  const remedy = exit.heapExhausted
    ? "Launch another image, with a larger `dynamicSpaceSize` if the code needs that much memory."
    : "Launch another image.";
  return new SwankError("CONNECTION_LOST", `The image (pid ${pid}) ${how}.${said}`, { remedy, details: { exit } });
}

/** Characters of an image's output that its tail has. */
const TAIL_LENGTH = 16_384;

/** Characters of an image's output that are kept. */
const KEPT_LENGTH = 1_000_000;

/** A part of the output of an image's process. */
export interface OutputPart {
  readonly text: string;
  /** Characters of the part that are missing before the text, because only the last 1,000,000 of all output are kept. */
  readonly omittedBefore: number;
  /** When the first and the last of its text have arrived, in milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
}

/** Text that has arrived in one piece. */
interface Arrived {
  readonly text: string;
  readonly time: number;
}

/** Milliseconds within which pieces of output are kept as one. */
const SOON = 100;

/** A line longer than this is passed on in parts. */
const LONGEST_LINE = 8192;

/** Reads a Lisp's stdout and stderr, so that it never blocks, and keeps the end of the output. */
class OutputLog {
  readonly #onLine: ((line: string) => void) | undefined;
  readonly #kept: Arrived[] = [];
  #keptLength = 0;
  #length = 0;

  constructor(onLine: ((line: string) => void) | undefined) {
    this.#onLine = onLine;
  }

  /** The end of the output, from all streams in the order of arrival. */
  get tail(): string {
    return this.since(this.#length - TAIL_LENGTH).text;
  }

  /** The output after the first `position` characters. */
  since(position: number): OutputPart {
    const start = Math.max(0, position);
    const wanted: Arrived[] = [];
    let end = this.#length;
    for (const each of this.#kept.toReversed()) {
      if (end <= start) break;
      wanted.unshift(each);
      end -= each.text.length;
    }
    const text = wanted.map((each) => each.text).join("");
    const now = Date.now();
    return {
      text: text.slice(Math.max(0, start - end)),
      omittedBefore: Math.max(0, end - start),
      from: wanted[0]?.time ?? now,
      to: wanted.at(-1)?.time ?? now,
    };
  }

  /** The number of characters of all output, including those that the tail has lost. */
  get length(): number {
    return this.#length;
  }

  /** Adds text that came from no stream. */
  add(text: string): void {
    this.#length += text.length;
    this.#keptLength += text.length;
    this.#keep(text, Date.now());
    const excess = this.#kept.findIndex(({ text: { length } }) => {
      if (this.#keptLength - length < KEPT_LENGTH) return true;
      this.#keptLength -= length;
      return false;
    });
    if (excess > 0) this.#kept.splice(0, excess);
  }

  #keep(text: string, time: number): void {
    const last = this.#kept.at(-1);
    const isSoon = last !== undefined && time - last.time < SOON && last.text.length < LONGEST_LINE;
    if (isSoon) this.#kept[this.#kept.length - 1] = { text: last.text + text, time: last.time };
    else this.#kept.push({ text, time });
  }

  /** Reads a stream to its end. */
  follow(stream: Readable): void {
    let partial = "";
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      this.add(text);
      if (this.#onLine !== undefined) partial = this.#passLines(partial + text);
    });
    stream.on("end", () => {
      if (partial !== "") this.#pass(partial);
    });
    // A broken pipe delivers nothing more. The end of the process is reported elsewhere.
    stream.on("error", () => undefined);
  }

  /** @returns the part of an unfinished line. */
  #passLines(text: string): string {
    const lines = text.split("\n");
    const partial = lines.pop() ?? "";
    for (const line of lines) this.#pass(line);
    if (partial.length <= LONGEST_LINE) return partial;
    this.#pass(partial);
    return "";
  }

  #pass(line: string): void {
    if (this.#onLine !== undefined) callListener(this.#onLine, line, warn);
  }
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error), "onLog");
}

/** Options for starting the process of an image. */
interface ImageCommand {
  /** The name under which the program runs. */
  readonly name: string;
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
  constructor({ name, runtime, args, cwd, env, onLog }: ImageCommand) {
    this.#log = new OutputLog(onLog);
    this.#child = spawn(runtime, args, {
      argv0: name,
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

  /** What it has written to both after the first `position` characters. */
  outputSince(position: number): OutputPart {
    return this.#log.since(position);
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
    if ((await within(this.exited, { timeout: time })) !== undefined) return;
    for (const [signal, patience] of PATIENCE) {
      this.#child.kill(signal);
      if ((await within(this.exited, { timeout: patience })) !== undefined) return;
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

/** What Lisp printed about a problem, as text after a message that ends with a full stop; empty if it printed nothing. */
export function printedText(output: string): string {
  const said = lispProblem(output);
  return said === "" ? "" : ` Lisp printed:\n${said}`;
}

/**
 * Reads the first characters of a stream, and leaves the rest unread.
 *
 * @param length - In bytes.
 * @returns fewer characters, or none, if the stream ends earlier or the signal is aborted
 */
function readStart(stream: Readable, length: number, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const finish = (text: string) => {
      stream.off("readable", onReadable);
      stream.off("close", onEnd);
      release();
      resolve(text);
    };
    const onReadable = () => {
      const chunk: Buffer | null = stream.read(length);
      if (chunk !== null) finish(String(chunk));
    };
    const onEnd = () => finish("");
    stream.on("readable", onReadable);
    stream.once("close", onEnd);
    const release = onLimit({ signal }, onEnd);
    if (signal.aborted || stream.destroyed) onEnd();
  });
}

/** Options for running a Lisp to its end. */
interface RunOptions {
  readonly args: readonly string[];
  /** Its standard input. */
  readonly input?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ends it when aborted. */
  readonly signal: AbortSignal;
  /** Whether other processes of this machine go first. Default: false. */
  readonly isBackground?: boolean;
  /** Called with each line that it prints. */
  readonly onLine?: ((line: string) => void) | undefined;
}

/** The result of a run. */
interface RunResult {
  readonly succeeded: boolean;
  /** The end of its output on stdout and stderr. */
  readonly output: string;
  /** How it ended, as text for messages, e.g. `exit code 1`. */
  readonly ending: string;
}

/** Runs a program to its end. Never rejects: a failure to start is a result. */
export function runLisp(executable: string, options: RunOptions): Promise<RunResult> {
  const log = new OutputLog(options.onLine);
  return new Promise((resolve) => {
    const finish = (succeeded: boolean, ending: string) => resolve({ succeeded, output: log.tail, ending });
    let failure: string | undefined;
    const child = spawn(executable, options.args, {
      stdio: "pipe",
      env: { ...options.env },
      signal: options.signal,
      killSignal: "SIGKILL",
    });
    if (options.isBackground === true && child.pid !== undefined) yieldToOthers(child.pid);
    log.follow(child.stdout);
    log.follow(child.stderr);
    // The program may end without reading all its input.
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.input ?? "");
    child.once("error", (error) => {
      failure = error.message;
      // What it has started may live on and keep its output open: the script of a package manager, for example, runs the Lisp as its child.
      child.stdout.destroy();
      child.stderr.destroy();
      if (child.pid === undefined) finish(false, failure);
    });
    child.once("close", (code, signal) => finish(code === 0, failure ?? endingText(code, signal)));
  });
}

function yieldToOthers(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended already, or this system refuses: it then runs like others.
  }
}

/** How a process ended, as text for messages. */
function endingText(code: number | null | undefined, signal: string | null | undefined): string {
  return typeof signal === "string" ? `signal ${signal}` : `exit code ${code ?? "unknown"}`;
}

/** An image to start. */
interface ImageStart extends ImageCommand {
  /** Its first output, which shows that it has started and is the right image. */
  readonly greeting: string;
  /** Milliseconds within which it must send the greeting. */
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
}

/** An image that has started. */
export interface StartedImage {
  readonly process: ImageProcess;
  readonly pid: number;
}

/** Longest time in milliseconds between a process closing its socket and ending. */
const START_ENDING_TIME = 1000;

/**
 * Starts an image and waits for its greeting. Leaves no process behind if it fails.
 *
 * @throws SwankError `LAUNCH_FAILED`, with its output; `CANCELLED`
 */
export async function startImage(start: ImageStart): Promise<StartedImage> {
  const timeout = AbortSignal.timeout(start.timeout);
  const signal = eitherSignal(start.signal, timeout);
  const process = new ImageProcess(start);
  const greeting = await readStart(process.socket, Buffer.byteLength(start.greeting), signal);
  const { pid } = process;
  if (greeting === start.greeting && pid !== undefined) return { process, pid };
  const why = timeout.aborted
    ? `it did not start within ${Math.round(start.timeout)} ms`
    : await failureText(process, greeting, signal);
  await process.kill();
  if (start.signal?.aborted) throw new SwankError("CANCELLED", "Launching the image was cancelled.");
  throw new SwankError("LAUNCH_FAILED", `The image did not start: ${why}.${printedText(process.outputTail)}`, {
    details: { output: process.outputTail },
  });
}

async function failureText(process: ImageProcess, greeting: string, signal: AbortSignal): Promise<string> {
  if (greeting !== "") return "it greeted with an unexpected line";
  const exit = signal.aborted ? undefined : await within(process.exited, { timeout: START_ENDING_TIME });
  return exit === undefined ? "it closed its socket" : endingText(exit.code, exit.signal);
}
