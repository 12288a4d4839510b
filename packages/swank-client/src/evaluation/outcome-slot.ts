import { checkOptions, checkSignal, checkTimeout, type OptionNames } from "../base/check-arguments.js";
import { SwankError } from "../base/errors.js";
import { LONGEST_TIMEOUT } from "../protocol/connection/requests.js";

/** Limits on waiting for an outcome. */
export interface WaitOptions {
  /** Milliseconds to wait. The evaluation continues after a timeout. Default: no limit. */
  readonly timeout?: number | undefined;
  /** Ends the wait when aborted. The evaluation continues. */
  readonly signal?: AbortSignal | undefined;
}

export const WAIT_OPTIONS: OptionNames<WaitOptions> = { timeout: true, signal: true };

/** @throws SwankError `INVALID_ARGUMENT` */
export function checkWaitOptions(owner: string, options: WaitOptions): void {
  checkOptions(owner, options, WAIT_OPTIONS);
  checkTimeout("timeout", options.timeout);
  checkSignal(options.signal);
}

/** Ends one wait. */
interface Waiter<Value> {
  readonly resolve: (value: Value) => void;
  readonly reject: (error: SwankError) => void;
}

/** Creates a value when it is taken. */
export type Producer<Value> = () => Value;

/**
 * Holds the newest value until it is taken. Callers that come earlier wait.
 *
 * A value that was not taken is replaced by the next one. A new value goes to all waiting callers.
 */
export class OutcomeSlot<Value> {
  /** `undefined` until there is one. */
  #waiters: Set<Waiter<Value>> | undefined;
  #next: Producer<Value> | undefined;
  #last: Producer<Value> | undefined;
  #error: SwankError | undefined;

  /** Whether there is a value that was not taken. */
  get hasNext(): boolean {
    return this.#next !== undefined;
  }

  put(produce: Producer<Value>): void {
    if (this.#hasWaiters) this.#serve(produce());
    else this.#next = produce;
  }

  /** Sets the last value: all later callers get it. */
  putLast(produce: Producer<Value>): void {
    this.#next = undefined;
    this.#last = produce;
    if (this.#hasWaiters) this.#serve(produce());
  }

  /** Ends the slot with an error: there will be no value. */
  fail(error: SwankError): void {
    this.#error = error;
    for (const waiter of this.#takeWaiters()) waiter.reject(error);
  }

  /** Removes a value that was not taken. */
  drop(): void {
    this.#next = undefined;
  }

  /** @throws SwankError `WAIT_TIMEOUT`, `CANCELLED`, and the error of `fail`. */
  take(options: WaitOptions): Promise<Value> {
    return new Promise((resolve, reject) => {
      checkWaitOptions("next", options);
      if (this.#error !== undefined) throw this.#error;
      const produce = this.#next ?? this.#last;
      if (produce === undefined) return this.#wait(options, { resolve, reject });
      this.#next = undefined;
      return resolve(produce());
    });
  }

  get #hasWaiters(): boolean {
    return this.#waiters !== undefined && this.#waiters.size > 0;
  }

  #serve(value: Value): void {
    for (const waiter of this.#takeWaiters()) waiter.resolve(value);
  }

  #takeWaiters(): Iterable<Waiter<Value>> {
    const waiters = this.#waiters ?? [];
    this.#waiters = undefined;
    return waiters;
  }

  #wait({ timeout, signal }: WaitOptions, { resolve, reject }: Waiter<Value>): void {
    if (signal?.aborted) throw cancelled(signal);
    // Removed at once, not when the rejection is handled, so that a value in between goes to other callers.
    const leave = (error: SwankError) => {
      this.#waiters?.delete(waiter);
      waiter.reject(error);
    };
    const timer = isLimit(timeout) ? setTimeout(() => leave(timedOut(timeout)), timeout) : undefined;
    const onAbort = () => leave(cancelled(signal));
    signal?.addEventListener("abort", onAbort, { once: true });
    const release = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    const waiter: Waiter<Value> = {
      resolve: (value) => {
        release();
        resolve(value);
      },
      reject: (error) => {
        release();
        reject(error);
      },
    };
    this.#waiters ??= new Set();
    this.#waiters.add(waiter);
  }
}

/**
 * Something that happens once. Waiting for it leaves nothing in memory, unlike a promise, and costs nothing when nobody waits, unlike an
 * `AbortController`, whose making and abort take 30 µs in a program that has just started.
 */
export class Latch {
  readonly #reason: Error | undefined;
  /** `undefined` until a caller waits. */
  #waiters: Set<() => void> | undefined;
  #controller: AbortController | undefined;
  #isOpen = false;

  /** @param reason - Of `signal`; default: that of an `AbortController`. */
  constructor(reason?: Error) {
    this.#reason = reason;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Aborted when the latch opens. Made when it is first asked for. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      this.onOpen(() => controller.abort(this.#reason));
    }
    return this.#controller.signal;
  }

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    const waiters = this.#waiters ?? [];
    this.#waiters = undefined;
    for (const proceed of waiters) proceed();
  }

  /** Calls a function when the latch opens, or at once if it is open. It must not throw. */
  onOpen(listener: () => void): void {
    if (this.#isOpen) listener();
    else {
      this.#waiters ??= new Set();
      this.#waiters.add(listener);
    }
  }

  /** Forgets a function that was given to `onOpen`. */
  forget(listener: () => void): void {
    this.#waiters?.delete(listener);
  }

  /** Resolves when the latch opens, at the latest after `milliseconds`. */
  within(milliseconds: number): Promise<void> {
    if (this.#isOpen) return Promise.resolve();
    return new Promise((resolve) => {
      const proceed = () => {
        clearTimeout(timer);
        this.forget(proceed);
        resolve();
      };
      const timer = setTimeout(proceed, milliseconds);
      this.onOpen(proceed);
    });
  }
}

/** Whether a timeout is a limit: none is, and nothing waits for longer than a timer can. */
export function isLimit(timeout: number | undefined): timeout is number {
  return timeout !== undefined && timeout <= LONGEST_TIMEOUT;
}

function timedOut(timeout: number): SwankError {
  return new SwankError("WAIT_TIMEOUT", `Nothing happened within ${timeout} ms; the evaluation continues.`);
}

function cancelled(signal: AbortSignal | undefined): SwankError {
  return new SwankError("CANCELLED", "The wait was cancelled; the evaluation continues.", { cause: signal?.reason });
}
