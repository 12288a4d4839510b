import type { LastErrorChange } from "../evaluation/conclusion.js";
import type { ErrorSnapshot } from "../image/lisp-port.js";

/**
 * The session's last error (contract error-state-preservation). It is a frozen copy, so every read gives the same answer, even after the
 * thread, the connection or the image has gone.
 */
export class LastError {
  #current: ErrorSnapshot | undefined;

  get current(): ErrorSnapshot | undefined {
    return this.#current;
  }

  /** Applies a change. Calls come in the order in which evaluations end or stop, so the latest wins. */
  apply(change: LastErrorChange): void {
    if (change.kind === "set") this.#current = frozenCopy(change.error);
    if (change.kind === "clear") this.#current = undefined;
  }
}

function frozenCopy(error: ErrorSnapshot): ErrorSnapshot {
  return deepFreeze(structuredClone(error));
}

function deepFreeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === "object" && part !== null) deepFreeze(part);
  return Object.freeze(value);
}
