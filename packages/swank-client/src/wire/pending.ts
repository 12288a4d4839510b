import { type CallSite, SwankError, type SwankErrorCode, type SwankErrorOptions } from "../base/errors.js";
import { check, checkOptions, type Schema, shownValue } from "../base/options.js";
import { LONGEST_TIMEOUT } from "../base/waiting.js";
import type { Reply, SwankMessage } from "./messages.js";
import type { RequestThread } from "./sent.js";

/**
 * Whether reading a name may run code. Swank passes names of packages to Lisp's reader, where `#.` evaluates the next form and `#S` calls a
 * constructor. `#:name` is only a name, and so is `FOO#BAR`: inside a token `#` is an ordinary character.
 */
export function runsWhenRead(name: string): boolean {
  return /(?<![\p{L}\p{N}_*+/<>=-])#(?!:)/u.test(name);
}

/** Options of a request. */
export interface RequestOptions {
  /** Names the operation in error messages, e.g. `swank:backtrace`. */
  readonly label: string;
  /** Name of the package in which it runs. Default: the image's global package. */
  readonly package?: string | undefined;
  /** Default `t`, a new thread. */
  readonly thread?: RequestThread | undefined;
  /**
   * Milliseconds to wait for the reply. The timeout ends only the wait; the request may continue in Lisp.
   *
   * By default a request to a new thread waits forever, and one to a numbered thread for the connection's `threadTimeout`, because Swank up
   * to 2.27 drops requests to a thread that has ended.
   */
  readonly timeout?: number | undefined;
  /** Ends the wait when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** An id from `nextId()`, for callers that must know it before they send. */
  readonly id?: number | undefined;
}

/** The rest is checked by `checkRequestOptions`, whose errors name the operation. */
const requestOptions: Schema = {
  label: check.text,
  package: check.any(),
  thread: check.any(),
  timeout: check.any(),
  signal: check.signal,
  id: check.any(),
};

/**
 * Checks for options that could break the connection or never end.
 *
 * @throws SwankError `INVALID_ARGUMENT`
 */
export function checkRequestOptions(options: RequestOptions): void {
  checkOptions("A request", options, requestOptions);
  const { label, thread, timeout, id, package: packageName } = options;
  const refuse = (problem: string): never => {
    throw new SwankError("INVALID_ARGUMENT", `${label}: ${problem}`);
  };
  if (typeof packageName !== "string" && packageName !== undefined) refuse("The package is given by its name.");
  if (packageName !== undefined && runsWhenRead(packageName)) refuse(`${packageName} is not the name of a package.`);
  // Swank closes the connection when a request names any other kind of thread.
  if (!(thread === undefined || thread === "t" || thread === "repl-thread" || Number.isSafeInteger(thread))) {
    refuse(`A thread is "t", "repl-thread" or an integer, not ${String(thread)}.`);
  }
  if (timeout !== undefined) checkTimeout(timeout, refuse);
  if (id !== undefined && !Number.isSafeInteger(id)) refuse(`A request's id is an integer, not ${String(id)}.`);
}

function checkTimeout(timeout: number, refuse: (problem: string) => never): void {
  if (timeout === Number.POSITIVE_INFINITY) return;
  if (!(typeof timeout === "number" && timeout > 0 && timeout <= LONGEST_TIMEOUT)) {
    refuse(
      `A timeout is a number of milliseconds from 1 to ${LONGEST_TIMEOUT}, or Infinity, not ${shownValue(timeout)}.`,
    );
  }
}

/** Data about a request until it is settled. */
interface PendingRequestOptions {
  readonly id: number;
  /** Names the operation in messages. */
  readonly label: string;
  /** The caller's stack trace. */
  readonly origin: CallSite;
  /** Timeout in milliseconds; `Infinity` for none. */
  readonly timeout: number;
  /** Ends the wait when aborted. */
  readonly signal: AbortSignal | undefined;
}

/** Why a request failed, without the request itself. */
export interface RequestFailure extends Pick<SwankErrorOptions, "cause" | "remedy" | "details"> {
  readonly code: SwankErrorCode;
  readonly message: string;
}

/** A request that waits, and how to end its wait. */
interface PendingRequest {
  readonly options: PendingRequestOptions;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: SwankError) => void;
  /** Called when the signal is aborted; `undefined` without one. */
  readonly onAbort: (() => void) | undefined;
  /** The time of `performance.now()` at which its timeout passes. */
  readonly deadline: number;
}

/**
 * The requests that wait for a reply. Each is settled once and leaves no listener behind, and no timer that keeps the process from ending. One timer
 * serves all timeouts, because most requests end long before, and a timer for each takes 10 µs in a program that has just started.
 */
export class PendingRequests {
  readonly #requests = new Map<number, PendingRequest>();
  /** Those without a reply, even if nobody waits for it any more. */
  readonly #unanswered = new Set<number>();
  /** The number of those with a timeout. */
  #timed = 0;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer fires. */
  #wakes = Number.POSITIVE_INFINITY;

  get size(): number {
    return this.#requests.size;
  }

  has(id: number): boolean {
    return this.#requests.has(id);
  }

  /** True if every request has got its reply, also those whose waits have ended. */
  get areAnswered(): boolean {
    return this.#unanswered.size === 0;
  }

  /** Begins a wait. The caller has checked that the id is new and the signal is not aborted. */
  add(options: PendingRequestOptions): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const deadline = performance.now() + options.timeout;
      this.#unanswered.add(options.id);
      this.#requests.set(options.id, { options, resolve, reject, deadline, onAbort: this.#listen(options) });
      if (Number.isFinite(deadline)) this.#addDeadline(deadline);
    });
  }

  /**
   * Ends the wait of the request that a message answers.
   *
   * @returns false for the reply to a request that does not wait; true for messages that are no reply.
   */
  settle(message: SwankMessage): boolean {
    if (message.type !== "return") {
      const failure = requestFailure(message);
      if (failure?.id === undefined) return failure === undefined;
      this.#unanswered.delete(failure.id);
      return this.#reject(failure.id, failure);
    }
    this.#unanswered.delete(message.id);
    const request = this.#take(message.id);
    request?.resolve(message.reply);
    return request !== undefined;
  }

  /** Rejects a request. @returns false if it does not wait */
  fail(id: number, failure: RequestFailure): boolean {
    return this.#reject(id, failure);
  }

  /** Rejects all requests. */
  clear(reason: SwankError): void {
    const { code, message, remedy, details } = reason;
    const failure = { code, message, cause: reason, remedy, details };
    for (const id of [...this.#requests.keys()]) this.#reject(id, failure);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#wakes = Number.POSITIVE_INFINITY;
  }

  #reject(id: number, failure: RequestFailure): boolean {
    const request = this.#take(id);
    request?.reject(describe(request.options, failure));
    return request !== undefined;
  }

  #take(id: number): PendingRequest | undefined {
    const request = this.#requests.get(id);
    if (request === undefined) return undefined;
    this.#requests.delete(id);
    const { onAbort, options, deadline } = request;
    if (Number.isFinite(deadline)) this.#removeDeadline();
    if (onAbort !== undefined) options.signal?.removeEventListener("abort", onAbort);
    return request;
  }

  #listen({ id, signal }: PendingRequestOptions): (() => void) | undefined {
    if (signal === undefined) return undefined;
    const onAbort = () =>
      void this.#reject(id, { code: "CANCELLED", message: "The wait was cancelled.", cause: signal.reason });
    signal.addEventListener("abort", onAbort, { once: true });
    return onAbort;
  }

  #addDeadline(deadline: number): void {
    this.#timed += 1;
    if (deadline < this.#wakes) this.#wakeAt(deadline);
    else if (this.#timed === 1) this.#timer?.ref();
  }

  #removeDeadline(): void {
    this.#timed -= 1;
    if (this.#timed === 0) this.#timer?.unref();
  }

  #wakeAt(time: number): void {
    clearTimeout(this.#timer);
    this.#wakes = time;
    this.#timer = setTimeout(this.#failLate, Math.max(1, time - performance.now()));
  }

  readonly #failLate = (): void => {
    this.#timer = undefined;
    this.#wakes = Number.POSITIVE_INFINITY;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    // Several may be late at once.
    for (const { options, deadline } of [...this.#requests.values()].sort(
      (one, other) => one.deadline - other.deadline,
    )) {
      const message = `No reply came within ${Math.round(options.timeout)} ms.`;
      if (deadline <= now) this.#reject(options.id, { code: "REQUEST_TIMEOUT", message });
      else next = Math.min(next, deadline);
    }
    if (next < this.#wakes) this.#wakeAt(next);
  };
}

/** The error of one request, with its label and the caller's stack trace. */
function describe(request: PendingRequestOptions, { code, message, ...failure }: RequestFailure): SwankError {
  return new SwankError(code, `${request.label}: ${message}`, {
    ...failure,
    details: { ...failure.details, operation: request.label, request: request.id },
    origin: request.origin,
  });
}

/** A failure, and its request if that is known. */
interface AddressedFailure extends RequestFailure {
  readonly id: number | undefined;
}

const REFUSED = {
  "too-large": {
    code: "REPLY_TOO_LARGE",
    message: "The result takes more than 16 MB as text, is nested too deeply, or contains itself.",
  },
  unprintable: {
    code: "UNREADABLE_MESSAGE",
    message: "Lisp could not send its reply: printing the result signalled an error.",
  },
} as const;

/** The failure of a request that a message reports; `undefined` for other messages. */
function requestFailure(message: SwankMessage): AddressedFailure | undefined {
  switch (message.type) {
    case "invalid-rpc":
      return { id: message.id, code: "NO_SUCH_THREAD", message: message.message };
    case "reply-refused":
      return { id: message.id, ...REFUSED[message.reason] };
    case "reader-error":
      // Swank also reports with this message that it could not write a reply as UTF-8.
      return message.carried === "reply"
        ? { id: message.id, code: "UNREADABLE_MESSAGE", message: `Lisp could not send its reply: ${message.message}` }
        : { id: message.id, code: "REQUEST_UNREADABLE", message: message.message };
    case "unreadable":
      if (message.id === undefined) return undefined;
      return { id: message.id, code: "UNREADABLE_MESSAGE", message: `The reply cannot be read: ${message.problem}` };
    case "malformed":
      if (message.id === undefined) return undefined;
      return { id: message.id, code: "UNEXPECTED_REPLY", message: message.problem };
    default:
      return undefined;
  }
}
