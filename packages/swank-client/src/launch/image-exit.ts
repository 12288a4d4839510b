import type { ImageExit } from "../base/error-details.js";
import { SwankError } from "../base/errors.js";
import { lispProblem } from "./lisp-problem.js";
import { within } from "./within.js";

/** Milliseconds to wait for the exit of an image whose connection has ended. */
const EXIT_TIME = 2000;

/**
 * SBCL's words at a garbage collection without memory, which always end it (gencgc.c, `gc_heap_exhausted_error_or_lose`). Instead of the last
 * ones, a failed check of SBCL itself can follow the first: "GC invariant lost".
 */
const HEAP_EXHAUSTED = /^Heap exhausted during garbage collection|Heap exhausted, game over/m;

/** What is known of an image that has ended. */
export function imageExit(code: number | null, signal: NodeJS.Signals | null, outputTail: string): ImageExit {
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
  const exit = await within(exited, EXIT_TIME);
  if (exit === undefined) return undefined;
  const how = exit.signal === undefined ? `ended with exit code ${exit.code}` : `was killed by ${exit.signal}`;
  const said = exit.problem === "" ? "" : ` Its last output:\n${exit.problem}`;
  const remedy = exit.heapExhausted
    ? "Launch another image, with a larger `dynamicSpaceSize` if the code needs that much memory."
    : "Launch another image.";
  return new SwankError("CONNECTION_LOST", `The image (pid ${pid}) ${how}.${said}`, { remedy, details: { exit } });
}
