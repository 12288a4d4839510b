import { decode, NIL, quote, type Sexp, symbol, T } from "sexp-parser";
import type { ERROR_CODES, SwankErrorOptions } from "../base/errors.js";
import { connectionFunctionForm } from "./connection-function.js";
import { decodedIfKnown } from "./decoders.js";

const { boolean, integer, list, map, string, tuple } = decode;

/** A lock that another thread holds. */
export interface HeldLock {
  readonly name: string;
  /** True for the lock that SBCL's compiler takes, and whatever changes classes and generic functions. */
  readonly isCompilers: boolean;
  readonly thread: number;
  /** The level at which that thread is stopped; 0 if it is not stopped. */
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

const heldLocks = list(map(tuple(integer, heldLock), ([id, lock]): [number, HeldLock] => [id, lock]));

/** Asks for the locks that requests of the sending connection wait for if stopped threads hold them. */
export function heldLocksForm(ids: readonly number[]): Sexp {
  return connectionFunctionForm("held-locks", ids);
}

/** The locks in a reply to that form, by the ids of the requests; `undefined` in an image without the system `connection`. */
export function heldLocksIn(reply: Sexp): ReadonlyMap<number, HeldLock> | undefined {
  const found = decodedIfKnown(heldLocks, reply);
  return found && new Map(found);
}

/** Asks for the locks that threads that serve other connections wait for. */
export function servingLocksForm(): Sexp {
  return connectionFunctionForm("serving-locks", NIL);
}

/** The locks in a reply to that form; none in an image without the system `connection`. */
export function servingLocksIn(reply: Sexp): readonly HeldLock[] {
  return decodedIfKnown(list(heldLock), reply) ?? [];
}

const WORLD_LOCK = symbol("sb-kernel::**world-lock**");
const OWNER = [symbol("sb-thread:mutex-owner"), WORLD_LOCK];

/**
 * Asks for the compiler's lock if a stopped thread holds it, without any code of ours. SBCL evaluates these calls without its compiler, which
 * would wait for that lock.
 */
export function heldCompilersLockForm(): Sexp {
  const level = [symbol("sb-thread:symbol-value-in-thread"), quote(symbol("swank::*sldb-level*")), OWNER, NIL];
  const held = [
    symbol("cl:list"),
    [symbol("sb-thread:mutex-name"), WORLD_LOCK],
    T,
    [symbol("swank/backend:thread-id"), OWNER],
    level,
  ];
  return [symbol("cl:if"), OWNER, held, NIL];
}

/** The lock in a reply to that form, if there is one. */
export function heldCompilersLockIn(reply: Sexp): HeldLock | undefined {
  const lock = decodedIfKnown(heldLock, reply);
  return lock !== undefined && lock.level > 0 ? lock : undefined;
}

/** True if both are the same lock, held at the same stop. */
export function isSameHold(one: HeldLock | undefined, other: HeldLock): boolean {
  return one?.name === other.name && one.thread === other.thread && one.level === other.level;
}

/** The lock and its holder, e.g. `the lock "cache", which thread 7 holds while it is stopped as 7/1`. */
export function heldLockText({ name, isCompilers, thread, level }: HeldLock): string {
  const lock = isCompilers ? `the compiler's lock ("${name}")` : `the lock "${name}"`;
  const stopped = level > 0 ? ` while it is stopped as ${thread}/${level}` : "";
  return `${lock}, which thread ${thread} holds${stopped}`;
}

/** Why a request that waits for a lock fails. */
export function lockHeld(held: HeldLock) {
  const { thread, level } = held;
  const stop = `${thread}/${level}`;
  return {
    code: "LOCK_HELD",
    message: `It needs ${heldLockText(held)}.`,
    remedy: `Resume or abort the stop ${stop}, then try again. If that needs the lock, too, do it in the client that has the stop, or disconnect that client.`,
    details: { holder: { thread, level } },
  } as const satisfies { code: keyof typeof ERROR_CODES; message: string } & SwankErrorOptions;
}
