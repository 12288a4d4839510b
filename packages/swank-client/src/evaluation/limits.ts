import { SwankError } from "../base/errors.js";
import type { Transcript } from "./outcome.js";
import { isLimit } from "./outcome-slot.js";

/** The part of an evaluation that its limits need. */
export interface LimitedTask {
  interrupt(): Promise<unknown>;
  abort(): Promise<unknown>;
  readonly isSettled: boolean;
  takeTranscript(): Transcript;
  readonly userWait: number;
}

/** What reached its limit: the time has passed, or the signal was aborted. */
export type Limit = "timeout" | "signal";

/** Called when an evaluation reaches a limit. */
export type AtLimit = (task: LimitedTask, limit: Limit) => void;

/** The limits of an evaluation. */
interface LimitOptions {
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The `timeout` and the `signal` of one evaluation. */
export class Limits {
  readonly #timeout: number | undefined;
  readonly #task: Pick<LimitedTask, "userWait">;
  readonly #reached: (limit: Limit) => void;
  readonly #stopListening: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** Milliseconds by which waiting for the user has extended the time. */
  #extended = 0;

  /** @throws SwankError `CANCELLED` if the signal has been aborted already. */
  constructor({ timeout, signal }: LimitOptions, task: Pick<LimitedTask, "userWait">, reached: (limit: Limit) => void) {
    if (signal?.aborted) {
      throw new SwankError("CANCELLED", "The evaluation was cancelled before it was sent.", { cause: signal.reason });
    }
    this.#timeout = timeout;
    this.#task = task;
    this.#reached = reached;
    const onAbort = () => reached("signal");
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#stopListening = () => signal?.removeEventListener("abort", onAbort);
  }

  /** Starts the time: loading the runtime does not count. */
  start(): void {
    if (isLimit(this.#timeout) && this.#timer === undefined) this.#reachIn(this.#timeout);
  }

  #reachIn(milliseconds: number): void {
    this.#timer = setTimeout(() => {
      const more = this.#task.userWait - this.#extended;
      this.#extended += more;
      if (more > 0) this.#reachIn(more);
      else this.#reached("timeout");
    }, milliseconds);
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#stopListening();
  }
}

/** Interrupts an evaluation after its `timeout`, or ends it if nothing may stop, and ends it when its `signal` is aborted. */
export function interruptOrEnd(onError: "stop" | "unwind" | undefined): AtLimit {
  return (task, limit) => {
    const action = limit === "timeout" && onError !== "unwind" ? task.interrupt() : task.abort();
    // If the image does not do it, the caller learns that from `abort` or from the lost connection.
    action.catch(() => undefined);
  };
}
