import { decode, type Sexp } from "sexp-parser";
import type { ERROR_CODES, SwankErrorOptions } from "../base/errors.js";
import { connectionFunctionForm } from "./connection-function.js";
import { decodedIfKnown } from "./decoders.js";

const { boolean, integer, map, string, tuple } = decode;

/** A lock that a stopped thread holds. */
export interface HeldLock {
  readonly name: string;
  /** True for the lock that SBCL's compiler takes, and whatever changes classes and generic functions. */
  readonly isCompilers: boolean;
  readonly thread: number;
  readonly level: number;
}

const heldLock = map(
  tuple(string, boolean, integer, integer),
  ([name, isCompilers, thread, level]): HeldLock => ({
    name,
    isCompilers,
    thread,
    level,
  }),
);

/** Asks for the lock that a request of the sending connection waits for if a stopped thread holds it. */
export function heldLockForm(id: number): Sexp {
  return connectionFunctionForm("held-lock", id);
}

/** The lock in a reply to that form, if there is one. */
export function heldLockIn(reply: Sexp): HeldLock | undefined {
  return decodedIfKnown(heldLock, reply);
}

/** True if both are the same lock, held at the same stop. */
export function isSameHold(one: HeldLock | undefined, other: HeldLock): boolean {
  return one?.name === other.name && one.thread === other.thread && one.level === other.level;
}

/** Why a request that waits for a lock fails. */
export function lockHeld({ name, isCompilers, thread, level }: HeldLock) {
  const stop = `${thread}/${level}`;
  const lock = isCompilers ? `the compiler's lock ("${name}")` : `the lock "${name}"`;
  return {
    code: "LOCK_HELD",
    message: `It needs ${lock}, which thread ${thread} holds while it is stopped as ${stop}.`,
    remedy: `Resume or abort the stop ${stop}, then try again.`,
    details: { holder: { thread, level } },
  } as const satisfies { code: keyof typeof ERROR_CODES; message: string } & SwankErrorOptions;
}
