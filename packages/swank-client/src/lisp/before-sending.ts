import { SwankError } from "../base/errors.js";
import { LONGEST_TIMEOUT } from "../protocol/connection/requests.js";

/** Limits on waiting for a call. */
export interface CallLimits {
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The result of a promise, or an error as soon as a limit of the call that waits for it is reached. Leaves nothing behind. */
export function beforeSending<Value>(promise: Promise<Value>, label: string, limits: CallLimits): Promise<Value> {
  const { timeout = Number.POSITIVE_INFINITY, signal } = limits;
  const isTimed = timeout <= LONGEST_TIMEOUT;
  if (signal === undefined && !isTimed) return promise;
  return new Promise<Value>((resolve, reject) => {
    const onAbort = () =>
      reject(new SwankError("CANCELLED", `${label}: Cancelled before it was sent.`, { cause: signal?.reason }));
    const onTimeout = () =>
      reject(new SwankError("REQUEST_TIMEOUT", `${label}: It was not sent within ${timeout} ms.`));
    const timer = isTimed ? setTimeout(onTimeout, timeout) : undefined;
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    });
  });
}
