import type { ErrorSnapshot } from "./lisp-port.js";

/** What an evaluation's end or stop does to the last error. */
export type LastErrorChange =
  | { readonly kind: "set"; readonly error: ErrorSnapshot }
  | { readonly kind: "clear" }
  | { readonly kind: "keep" };

/**
 * The session's last error (contract error-state-preservation): a snapshot of its own, frozen, so that reading it gives the same answer
 * however often it is read and whatever becomes of the thread, the connection and the image.
 */
export class LastError {
  #current: ErrorSnapshot | undefined;

  get current(): ErrorSnapshot | undefined {
    return this.#current;
  }

  /** Called in the order in which evaluations end or stop: the latest wins. */
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
