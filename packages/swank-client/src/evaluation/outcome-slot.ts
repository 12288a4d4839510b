import { type Deferred, deferred } from "../deferred.js";
import { SwankError } from "../errors.js";

/** How long to wait for an outcome. */
export interface WaitOptions {
  /** Milliseconds; the evaluation goes on when they have passed. Default: no limit. */
  readonly timeout?: number | undefined;
  /** Ends the wait when aborted; the evaluation goes on. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Holds the newest value until it is taken; whoever comes too early waits.
 *
 * A value that nobody took is replaced by the next one. Everybody who waits when a value comes gets that value.
 */
export class OutcomeSlot<Value> {
  readonly #waiters = new Set<Deferred<Value>>();
  #value: Value | undefined;
  #error: SwankError | undefined;

  put(value: Value): void {
    if (this.#waiters.size === 0) this.#value = value;
    for (const waiter of this.#waiters) waiter.resolve(value);
    this.#waiters.clear();
  }

  /** Nothing will come any more. */
  fail(error: SwankError): void {
    this.#error = error;
    for (const waiter of this.#waiters) waiter.reject(error);
    this.#waiters.clear();
  }

  /** Forgets a value that nobody has taken. */
  drop(): void {
    this.#value = undefined;
  }

  /** @throws SwankError `WAIT_TIMEOUT`, `CANCELLED`, and what `fail` was given. */
  async take(options: WaitOptions): Promise<Value> {
    if (this.#error !== undefined) throw this.#error;
    const value = this.#value;
    if (value === undefined) return this.#wait(options);
    this.#value = undefined;
    return value;
  }

  async #wait({ timeout, signal }: WaitOptions): Promise<Value> {
    if (signal?.aborted) throw cancelled(signal);
    const waiter = deferred<Value>();
    this.#waiters.add(waiter);
    const timer = isLimit(timeout) ? setTimeout(() => waiter.reject(timedOut(timeout)), timeout) : undefined;
    const onAbort = () => waiter.reject(cancelled(signal));
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await waiter.promise;
    } finally {
      this.#waiters.delete(waiter);
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }
}

function isLimit(timeout: number | undefined): timeout is number {
  return timeout !== undefined && Number.isFinite(timeout);
}

function timedOut(timeout: number): SwankError {
  return new SwankError("WAIT_TIMEOUT", `Nothing happened within ${timeout} ms; the evaluation goes on.`);
}

function cancelled(signal: AbortSignal | undefined): SwankError {
  return new SwankError("CANCELLED", "The wait was cancelled; the evaluation goes on.", { cause: signal?.reason });
}
