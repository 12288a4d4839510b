import { checkOptions, type OptionNames } from "../check-options.js";
import { type Deferred, deferred } from "../deferred.js";
import { SwankError } from "../errors.js";

/** How long to wait for an outcome. */
export interface WaitOptions {
  /** Milliseconds; the evaluation goes on when they have passed. Default: no limit. */
  readonly timeout?: number | undefined;
  /** Ends the wait when aborted; the evaluation goes on. */
  readonly signal?: AbortSignal | undefined;
}

export const WAIT_OPTIONS: OptionNames<WaitOptions> = { timeout: true, signal: true };

function checkWaitOptions(options: WaitOptions): void {
  checkOptions("next", options, WAIT_OPTIONS);
}

/** Makes a value when somebody gets it, not before. */
export type Producer<Value> = () => Value;

/**
 * Holds the newest value until it is taken; whoever comes too early waits.
 *
 * A value that nobody took is replaced by the next one. Everybody who waits when a value comes gets that value.
 */
export class OutcomeSlot<Value> {
  readonly #waiters = new Set<Deferred<Value>>();
  #next: Producer<Value> | undefined;
  #last: Producer<Value> | undefined;
  #error: SwankError | undefined;

  put(produce: Producer<Value>): void {
    if (this.#waiters.size === 0) this.#next = produce;
    else this.#serve(produce());
  }

  /** Nothing else will come: whoever asks from now on gets this. */
  putLast(produce: Producer<Value>): void {
    this.#next = undefined;
    this.#last = produce;
    if (this.#waiters.size > 0) this.#serve(produce());
  }

  /** Nothing will come any more. */
  fail(error: SwankError): void {
    this.#error = error;
    for (const waiter of this.#waiters) waiter.reject(error);
    this.#waiters.clear();
  }

  /** Forgets a value that nobody has taken. */
  drop(): void {
    this.#next = undefined;
  }

  /** @throws SwankError `WAIT_TIMEOUT`, `CANCELLED`, and what `fail` was given. */
  async take(options: WaitOptions): Promise<Value> {
    checkWaitOptions(options);
    if (this.#error !== undefined) throw this.#error;
    const produce = this.#next ?? this.#last;
    if (produce === undefined) return this.#wait(options);
    this.#next = undefined;
    return produce();
  }

  #serve(value: Value): void {
    for (const waiter of this.#waiters) waiter.resolve(value);
    this.#waiters.clear();
  }

  async #wait({ timeout, signal }: WaitOptions): Promise<Value> {
    if (signal?.aborted) throw cancelled(signal);
    const waiter = deferred<Value>();
    this.#waiters.add(waiter);
    // Leaves at once, not when the rejection arrives: a value that comes meanwhile is for others.
    const leave = (error: SwankError) => {
      this.#waiters.delete(waiter);
      waiter.reject(error);
    };
    const timer = isLimit(timeout) ? setTimeout(() => leave(timedOut(timeout)), timeout) : undefined;
    const onAbort = () => leave(cancelled(signal));
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await waiter.promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }
}

/** Beyond it, `setTimeout` takes any time for no time. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

function isLimit(timeout: number | undefined): timeout is number {
  return timeout !== undefined && timeout <= LONGEST_TIMEOUT;
}

function timedOut(timeout: number): SwankError {
  return new SwankError("WAIT_TIMEOUT", `Nothing happened within ${timeout} ms; the evaluation goes on.`);
}

function cancelled(signal: AbortSignal | undefined): SwankError {
  return new SwankError("CANCELLED", "The wait was cancelled; the evaluation goes on.", { cause: signal?.reason });
}
