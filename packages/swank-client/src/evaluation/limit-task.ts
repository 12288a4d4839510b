import { SwankError } from "../base/errors.js";
import type { EvaluateOptions } from "./evaluation.js";
import { isLimit } from "./outcome-slot.js";

/** The part of an evaluation that its limits need. */
interface LimitedTask {
  interrupt(): Promise<unknown>;
  abort(): Promise<unknown>;
}

/**
 * Interrupts an evaluation after its `timeout`, or ends it if nothing may stop, and ends it when its `signal` is aborted.
 *
 * @returns a function that releases the timer and the listener.
 * @throws SwankError `CANCELLED` if the signal has been aborted already.
 */
export function limitTask(task: LimitedTask, { timeout, signal, onError }: EvaluateOptions): () => void {
  if (signal?.aborted) {
    throw new SwankError("CANCELLED", "The evaluation was cancelled before it was sent.", { cause: signal.reason });
  }
  // If the image does not end it, the caller learns that from `abort` or from the lost connection.
  const end = () => void task.abort().catch(() => undefined);
  const interrupt = () => void task.interrupt().catch(() => undefined);
  const timer = isLimit(timeout) ? setTimeout(onError === "unwind" ? end : interrupt, timeout) : undefined;
  signal?.addEventListener("abort", end, { once: true });
  return () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  };
}
