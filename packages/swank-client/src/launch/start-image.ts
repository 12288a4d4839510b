import { SwankError } from "../errors.js";
import { type ImageCommand, ImageProcess } from "./image-process.js";
import { readStart } from "./read-start.js";
import { endingText } from "./run-lisp.js";
import { within } from "./within.js";

/** An image to be started. */
export interface ImageStart extends ImageCommand {
  /** What it says first, by which it is known to be up and to be the right one. */
  readonly greeting: string;
  /** Milliseconds until it must have said that. */
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
}

/** An image that is up. */
export interface StartedImage {
  readonly process: ImageProcess;
  readonly pid: number;
}

/** Milliseconds that a process takes at most from closing its socket to being gone, if it is ending. */
const ENDING_TIME = 1000;

/**
 * Starts an image and waits until it is up. Leaves no process behind when it fails.
 *
 * @throws SwankError `LAUNCH_FAILED`, with what it printed; `CANCELLED`
 */
export async function startImage(start: ImageStart): Promise<StartedImage> {
  const timeout = AbortSignal.timeout(start.timeout);
  const signal = start.signal === undefined ? timeout : AbortSignal.any([start.signal, timeout]);
  const process = new ImageProcess(start);
  const greeting = await readStart(process.socket, Buffer.byteLength(start.greeting), signal);
  const { pid } = process;
  if (greeting === start.greeting && pid !== undefined) return { process, pid };
  const why = timeout.aborted
    ? `it was not up after ${start.timeout} ms`
    : await failureText(process, greeting, signal);
  await process.kill();
  if (start.signal?.aborted) throw new SwankError("CANCELLED", "Launching the image was cancelled.");
  throw new SwankError("LAUNCH_FAILED", `The image did not come up: ${why}.`, {
    details: { output: process.outputTail },
  });
}

async function failureText(process: ImageProcess, greeting: string, signal: AbortSignal): Promise<string> {
  if (greeting !== "") return "it is not the one that was asked for";
  const exit = signal.aborted ? undefined : await within(process.exited, ENDING_TIME);
  return exit === undefined ? "it closed its socket" : endingText(exit.code, exit.signal);
}
