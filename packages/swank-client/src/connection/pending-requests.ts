import { type CallSite, SwankError, type SwankErrorCode, type SwankErrorOptions } from "../errors.js";
import type { Reply } from "../wire/messages.js";

/** What to remember of a request until it is settled. */
export interface PendingRequestOptions {
  readonly id: number;
  /** Names the operation in messages. */
  readonly label: string;
  /** Where it was asked for. */
  readonly origin: CallSite;
  /** Milliseconds until the wait is given up; `Infinity` for never. */
  readonly timeout: number;
  /** Gives the wait up when aborted. */
  readonly signal: AbortSignal | undefined;
}

/** Why a request failed, before it is known which one that was. */
export interface RequestFailure extends Pick<SwankErrorOptions, "cause" | "remedy" | "details"> {
  readonly code: SwankErrorCode;
  readonly message: string;
}

interface PendingRequest extends PendingRequestOptions {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: SwankError) => void;
  /** Releases the timer and the signal's listener. */
  readonly release: () => void;
}

/** The requests that wait for a reply. Each is settled once, and leaves no timer and no listener behind. */
export class PendingRequests {
  readonly #requests = new Map<number, PendingRequest>();

  get size(): number {
    return this.#requests.size;
  }

  has(id: number): boolean {
    return this.#requests.has(id);
  }

  /** Begins a wait. The caller has made sure that the id is new and the signal not aborted yet. */
  add(options: PendingRequestOptions): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#requests.set(options.id, { ...options, resolve, reject, release: this.#watch(options) });
    });
  }

  /** @returns false when nobody waits for that id. */
  resolve(id: number, reply: Reply): boolean {
    const request = this.#take(id);
    request?.resolve(reply);
    return request !== undefined;
  }

  /** @returns false when nobody waits for that id. */
  reject(id: number, failure: RequestFailure): boolean {
    const request = this.#take(id);
    request?.reject(describe(request, failure));
    return request !== undefined;
  }

  /** Rejects everything that waits. */
  clear(failure: RequestFailure): void {
    for (const id of [...this.#requests.keys()]) this.reject(id, failure);
  }

  #take(id: number): PendingRequest | undefined {
    const request = this.#requests.get(id);
    this.#requests.delete(id);
    request?.release();
    return request;
  }

  #watch({ id, timeout, signal }: PendingRequestOptions): () => void {
    const onAbort = () =>
      void this.reject(id, { code: "CANCELLED", message: "The wait was cancelled.", cause: signal?.reason });
    const onTimeout = () =>
      void this.reject(id, { code: "REQUEST_TIMEOUT", message: `No reply came within ${timeout} ms.` });
    const timer = Number.isFinite(timeout) ? setTimeout(onTimeout, timeout) : undefined;
    signal?.addEventListener("abort", onAbort, { once: true });
    return () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
  }
}

/** The error of one request: names it, and points where it was asked for. */
function describe(request: PendingRequest, { code, message, ...failure }: RequestFailure): SwankError {
  return new SwankError(code, `${request.label}: ${message}`, {
    ...failure,
    details: { ...failure.details, operation: request.label, request: request.id },
    origin: request.origin,
  });
}
