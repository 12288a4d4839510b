import { setTimeout as pause } from "node:timers/promises";
import type { Connection } from "../protocol/connection/connection.js";
import { type HeldLock, heldLockText, isSameHold, servingLocksForm, servingLocksIn } from "./held-lock.js";

/** Milliseconds that the image has to answer. */
const QUESTION_TIME = 3000;
/** Milliseconds until the answer is confirmed: Swank's threads take locks for a moment. */
const CONFIRMATION = 300;

/**
 * Asks the image over a connection that it answers whether it serves its other connections. Never rejects.
 *
 * @returns the lock that a thread that serves one of them waits for, and the thread that holds it, e.g. `the lock "cache", which thread 7
 * holds`; `undefined` if there is none or that is not known
 */
export async function unservedReason(connection: Connection): Promise<string | undefined> {
  const before = await servingLocks(connection);
  if (before.length === 0) return undefined;
  await pause(CONFIRMATION);
  const lock = (await servingLocks(connection)).find((now) => before.some((earlier) => isSameHold(earlier, now)));
  return lock && heldLockText(lock);
}

async function servingLocks(connection: Connection): Promise<readonly HeldLock[]> {
  try {
    const reply = await connection.request(servingLocksForm(), { label: "finding locks", timeout: QUESTION_TIME });
    return reply.status === "ok" ? servingLocksIn(reply.value) : [];
  } catch {
    // The connection is then closed or unanswered, so that nothing is known.
    return [];
  }
}
