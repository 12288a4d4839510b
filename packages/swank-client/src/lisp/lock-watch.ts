import { setTimeout as pause } from "node:timers/promises";
import type { Sexp } from "sexp-parser";
import type { Connection } from "../protocol/connection/connection.js";
import type { Reply } from "../protocol/wire/messages.js";
import {
  type HeldLock,
  heldCompilersLockForm,
  heldCompilersLockIn,
  heldLocksForm,
  heldLocksIn,
  heldLockText,
  isSameHold,
  servingLocksForm,
  servingLocksIn,
} from "./held-lock.js";

/**
 * Milliseconds between looks at the running requests while there are any. A request that is seen twice is asked about: whether it waits for a
 * lock that a stopped thread holds.
 */
export const LOOKING = 250;
/** Milliseconds until the answer is confirmed, because a stopped thread that answers questions, and Swank itself, take locks for a moment. */
const CONFIRMATION = 300;
/** Milliseconds until the next question if there is no such lock, and the longest such time: it doubles. */
const NEXT_QUESTION = 2000;
const LAST_QUESTION = 30_000;

/** How a request is watched. */
export interface Watch {
  /** Called once, when the request is known to wait for such a lock. It is then no longer watched. */
  readonly onHeld: (lock: HeldLock) => void;
  /** True for a request that loads code of ours: it needs the compiler's lock, and the image may not know yet that it runs. */
  readonly compiles?: boolean | undefined;
  /** True to watch for the compiler's lock only. Others may be held and awaited by the program's own design. */
  readonly compilersOnly?: boolean | undefined;
}

/** The time of a request's next question, and what the last one has found. */
interface Question {
  due: number;
  pause: number;
  before: HeldLock | undefined;
}

type Due = readonly [id: number, watch: Watch, question: Question];

/**
 * Finds out which of the running requests wait for a lock until a client resumes or aborts a stop. One question in the image serves all of
 * them.
 */
export class LockWatch {
  readonly #running: Map<number, Watch>;
  readonly #ask: (form: Sexp) => Promise<Reply | undefined>;
  readonly #questions = new WeakMap<Watch, Question>();

  /**
   * @param running - The requests that are watched, by their ids.
   * @param ask - Sends a question of its own; `undefined` if it fails.
   */
  constructor(running: Map<number, Watch>, ask: (form: Sexp) => Promise<Reply | undefined>) {
    this.#running = running;
    this.#ask = ask;
  }

  /** Asks about the requests that have run for a while. */
  async look(): Promise<void> {
    const now = performance.now();
    const due: Due[] = [];
    for (const [id, watch] of this.#running) {
      const question = this.#questions.get(watch);
      if (question === undefined) this.#questions.set(watch, { due: now, pause: NEXT_QUESTION, before: undefined });
      else if (question.due <= now) due.push([id, watch, question]);
    }
    if (due.length === 0) return;
    const locks = await this.#locks(due);
    for (const asked of due) if (this.#running.get(asked[0]) === asked[1]) this.#take(asked, locks.get(asked[0]));
  }

  /** The locks that requests wait for, by the requests' ids. */
  async #locks(due: readonly Due[]): Promise<ReadonlyMap<number, HeldLock>> {
    const reply = await this.#ask(heldLocksForm(due.map(([id]) => id)));
    if (reply?.status !== "ok") return new Map();
    const locks = new Map(heldLocksIn(reply.value));
    // The image may have had nothing of ours yet when a request that loads our code began, and that code is compiled, or takes the lock to load.
    const unknown = due.filter(([id, { compiles }]) => compiles === true && !locks.has(id));
    if (unknown.length === 0) return locks;
    const answer = await this.#ask(heldCompilersLockForm());
    const lock = answer?.status === "ok" ? heldCompilersLockIn(answer.value) : undefined;
    if (lock !== undefined) for (const [id] of unknown) locks.set(id, lock);
    return locks;
  }

  #take([id, watch, question]: Due, found: HeldLock | undefined): void {
    const lock = watch.compilersOnly === true && found?.isCompilers !== true ? undefined : found;
    if (lock !== undefined && isSameHold(question.before, lock)) {
      this.#running.delete(id);
      watch.onHeld(lock);
      return;
    }
    question.before = lock;
    question.due = performance.now() + (lock === undefined ? question.pause : CONFIRMATION);
    if (lock === undefined) question.pause = Math.min(question.pause * 2, LAST_QUESTION);
  }
}

/** Milliseconds that the image has to say which connections it does not serve. */
const UNSERVED_TIME = 3000;

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
    const reply = await connection.request(servingLocksForm(), { label: "finding locks", timeout: UNSERVED_TIME });
    return reply.status === "ok" ? servingLocksIn(reply.value) : [];
  } catch {
    // The connection is then closed or unanswered, so that nothing is known.
    return [];
  }
}
