import { SwankError } from "../base/errors.js";
import { type ImageCommand, ImageProcess } from "./image-process.js";
import { printedText } from "./problem-text.js";
import { readStart } from "./read-start.js";
import { endingText } from "./run-lisp.js";
import { within } from "./within.js";

/** An image to start. */
export interface ImageStart extends ImageCommand {
  /** Its first output, which shows that it has started and is the right image. */
  readonly greeting: string;
  /** Milliseconds within which it must send the greeting. */
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
  /** Called when the process has been created. */
  readonly onSpawn: (() => void) | undefined;
}

/** An image that has started. */
export interface StartedImage {
  readonly process: ImageProcess;
  readonly pid: number;
}

/** Longest time in milliseconds between a process closing its socket and ending. */
const ENDING_TIME = 1000;

/**
 * Starts an image and waits for its greeting. Leaves no process behind if it fails.
 *
 * @throws SwankError `LAUNCH_FAILED`, with its output; `CANCELLED`; what `onSpawn` throws
 */
export async function startImage(start: ImageStart): Promise<StartedImage> {
  const timeout = AbortSignal.timeout(start.timeout);
  const signal = start.signal === undefined ? timeout : AbortSignal.any([start.signal, timeout]);
  const process = new ImageProcess(start);
  try {
    start.onSpawn?.();
  } catch (error) {
    await process.kill();
    throw error;
  }
  const greeting = await readStart(process.socket, Buffer.byteLength(start.greeting), signal);
  const { pid } = process;
  if (greeting === start.greeting && pid !== undefined) return { process, pid };
  const why = timeout.aborted
    ? `it did not start within ${start.timeout} ms`
    : await failureText(process, greeting, signal);
  await process.kill();
  if (start.signal?.aborted) throw new SwankError("CANCELLED", "Launching the image was cancelled.");
  throw new SwankError("LAUNCH_FAILED", `The image did not start: ${why}.${printedText(process.outputTail)}`, {
    details: { output: process.outputTail },
  });
}

async function failureText(process: ImageProcess, greeting: string, signal: AbortSignal): Promise<string> {
  if (greeting !== "") return "it greeted with an unexpected line";
  const exit = signal.aborted ? undefined : await within(process.exited, ENDING_TIME);
  return exit === undefined ? "it closed its socket" : endingText(exit.code, exit.signal);
}
