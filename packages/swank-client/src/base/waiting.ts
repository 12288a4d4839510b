import { SwankError } from "./errors.js";
import { check, checkOptions, type OptionsOf } from "./options.js";

/** The longest that a timer of this platform can wait. */
export const LONGEST_TIMEOUT = 2 ** 31 - 1;

/** Limits on waiting for a call. */
export interface CallLimits {
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What ends a wait: its time has passed, or its signal was aborted. */
export type Limit = "timeout" | "signal";

/** Calls a function when a limit is reached, until the returned function is called. For a signal that has been aborted it calls nothing. */
export function onLimit({ timeout, signal }: CallLimits, reached: (limit: Limit) => void): () => void {
  const timer = isLimit(timeout) ? setTimeout(reached, timeout, "timeout") : undefined;
  const onAbort = () => reached("signal");
  signal?.addEventListener("abort", onAbort, { once: true });
  return () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  };
}

/** The result of a promise, or an error as soon as a limit of the call that waits for it is reached. Leaves nothing behind. */
export function beforeSending<Value>(promise: Promise<Value>, label: string, limits: CallLimits): Promise<Value> {
  const { timeout = Number.POSITIVE_INFINITY, signal } = limits;
  if (signal === undefined && !isLimit(timeout)) return promise;
  return new Promise<Value>((resolve, reject) => {
    const fail = (limit: Limit) =>
      reject(
        limit === "signal"
          ? new SwankError("CANCELLED", `${label}: Cancelled before it was sent.`, { cause: signal?.reason })
          : new SwankError("REQUEST_TIMEOUT", `${label}: It was not sent within ${Math.round(timeout)} ms.`),
      );
    const release = onLimit(limits, fail);
    if (signal?.aborted) fail("signal");
    promise.then(resolve, reject).finally(release);
  });
}

export const waitOptions = {
  /** Milliseconds to wait. The evaluation continues after a timeout. Default: no limit. */
  timeout: check.milliseconds,
  /** Ends the wait when aborted. The evaluation continues. */
  signal: check.signal,
};

/** Limits on waiting for an outcome. */
export interface WaitOptions extends OptionsOf<typeof waitOptions> {}

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
      checkOptions("next", options, waitOptions);
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
    const release = onLimit({ timeout, signal }, (limit) =>
      leave(limit === "signal" ? cancelled(signal) : timedOut(timeout)),
    );
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
        release();
        this.forget(proceed);
        resolve();
      };
      const release = onLimit({ timeout: milliseconds }, proceed);
      this.onOpen(proceed);
    });
  }
}

/** Whether a timeout is a limit: none is, and nothing waits for longer than a timer can. */
export function isLimit(timeout: number | undefined): timeout is number {
  return timeout !== undefined && timeout <= LONGEST_TIMEOUT;
}

function timedOut(timeout = 0): SwankError {
  return new SwankError("WAIT_TIMEOUT", `Nothing happened within ${Math.round(timeout)} ms; the evaluation continues.`);
}

function cancelled(signal: AbortSignal | undefined): SwankError {
  return new SwankError("CANCELLED", "The wait was cancelled; the evaluation continues.", { cause: signal?.reason });
}

/** The value of a promise, or `undefined` if a limit is reached first. Leaves nothing behind. */
export function within<Value>(promise: Promise<Value>, limits: CallLimits): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    const release = onLimit(limits, () => resolve(undefined));
    if (limits.signal?.aborted) resolve(undefined);
    promise.then(resolve, reject).finally(release);
  });
}

/** A signal that is aborted when one of two is. */
export function eitherSignal(given: AbortSignal | undefined, other: AbortSignal): AbortSignal {
  return given === undefined ? other : AbortSignal.any([given, other]);
}

/** Runs a limited number of tasks at once. The others wait in the order in which they came. */
export class LimitedTasks {
  readonly #most: number;
  #running = 0;
  readonly #waiting = new Set<() => void>();

  constructor(most: number) {
    this.#most = most;
  }

  /** True if no task runs or waits. */
  get isIdle(): boolean {
    return this.#running === 0;
  }

  /**
   * Runs a task when its turn has come. Settles as the task does.
   *
   * @param patience - When one of these limits is reached, the task waits no longer and runs in addition to the others. Default: none.
   */
  async run<Result>(task: () => Promise<Result>, patience: CallLimits = {}): Promise<Result> {
    const hasTurn = this.#running >= this.#most && (await this.#turn(patience));
    if (!hasTurn) this.#running += 1;
    try {
      return await task();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined || this.#running > this.#most) this.#running -= 1;
      else next();
    }
  }

  /** Waits for the turn of a task that has ended. @returns false if a limit was reached before */
  #turn(patience: CallLimits): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (hasTurn: boolean) => {
        release();
        this.#waiting.delete(onTurn);
        resolve(hasTurn);
      };
      const onTurn = () => end(true);
      const release = onLimit(patience, () => end(false));
      this.#waiting.add(onTurn);
      if (patience.signal?.aborted) end(false);
    });
  }
}
