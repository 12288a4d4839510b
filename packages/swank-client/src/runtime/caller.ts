import { setTimeout as pause } from "node:timers/promises";
import { type Decoded, decode, keyword, list as listForm, NIL, quote, type Sexp, symbol, T } from "sexp-parser";
import { type ERROR_CODES, SwankError, type SwankErrorCode, type SwankErrorOptions } from "../base/errors.js";
import type { Connection } from "../wire/connection.js";
import type { DebugMessage, Reply } from "../wire/messages.js";
import type { RequestOptions } from "../wire/pending.js";
import { decodedIfKnown } from "./function.js";
import { runtimeModule } from "./runtime.js";

const { boolean, integer, list, record, string, tuple } = decode;

/** Functions that the system `connection` offers under a keyword. */
type ConnectionFunction = "end-request" | "held-locks" | "serving-locks" | "awaited-locks";

/** Calls a function of the system `connection` with data. Returns that in an image without that system. */
function connectionFunctionForm(name: ConnectionFunction, operand: Sexp): Sexp {
  const marker = keyword(runtimeModule("connection").marker);
  // Lisp could not read the name of a function in a package that does not exist.
  return listForm(
    symbol("cl:funcall"),
    listForm(symbol("cl:get"), marker, keyword(name), quote(symbol("cl:identity"))),
    quote(operand),
  );
}

const heldLock = record({
  name: string,
  /** True for the lock that SBCL's compiler takes, and whatever changes classes and generic functions. */
  isCompilers: boolean,
  thread: integer,
  /** The level at which that thread is stopped; 0 if it is not stopped. */
  level: integer,
});

/** A lock that another thread holds. */
export interface HeldLock extends Decoded<typeof heldLock> {}

const heldLocks = list(tuple(integer, heldLock));

/** Asks for the locks that requests of the sending connection wait for. */
function heldLocksForm(ids: readonly number[]): Sexp {
  return connectionFunctionForm("held-locks", ids);
}

/** The locks in a reply to that form, by the ids of the requests; none in an image without the system `connection`. */
function heldLocksIn(reply: Reply | undefined): ReadonlyMap<number, HeldLock> {
  return new Map(reply?.status === "ok" ? decodedIfKnown(heldLocks, reply.value) : []);
}

const WORLD_LOCK = symbol("sb-kernel::**world-lock**");

const OWNER = [symbol("sb-thread:mutex-owner"), WORLD_LOCK];

function inOwner(variable: string): Sexp {
  return [symbol("sb-thread:symbol-value-in-thread"), quote(symbol(variable)), OWNER, NIL];
}

/**
 * Asks for the compiler's lock if a thread holds it, and for the requests that this thread runs, without any code of ours. SBCL evaluates these
 * calls without its compiler, which would wait for that lock.
 */
function heldCompilersLockForm(): Sexp {
  const lock = [
    symbol("cl:list"),
    [symbol("sb-thread:mutex-name"), WORLD_LOCK],
    T,
    [symbol("swank/backend:thread-id"), OWNER],
    [symbol("cl:or"), inOwner("swank::*sldb-level*"), 0],
  ];
  const held = [symbol("cl:list"), lock, inOwner("swank::*pending-continuations*")];
  return [symbol("cl:if"), OWNER, held, NIL];
}

/** The lock in a reply to that form, and the requests that its holder runs. */
const heldCompilersLock = record({ lock: heldLock, requests: list(integer) });

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

const RUNNING_REMEDY =
  "Wait until that thread has released the lock, then try again. If it never does, interrupt or end that thread.";

function stoppedRemedy({ thread, level }: HeldLock): string {
  return `Resume or abort the stop ${thread}/${level}, then try again. If that needs the lock, too, do it in the client that has the stop, or disconnect that client.`;
}

/** Why a request that waits for a lock fails. */
export function lockHeld(held: HeldLock) {
  const { thread, level } = held;
  return {
    code: "LOCK_HELD",
    message: `It needs ${heldLockText(held)}.`,
    remedy: level > 0 ? stoppedRemedy(held) : RUNNING_REMEDY,
    details: { holder: { thread, level } },
  } as const satisfies { code: keyof typeof ERROR_CODES; message: string } & SwankErrorOptions;
}

/**
 * Milliseconds between looks at the running requests while there are any. A request that is seen twice is asked about: whether it waits for a
 * lock that another thread holds.
 */
const LOOKING = 250;

/** Milliseconds until the answer is confirmed, because a stopped thread that answers questions, and Swank itself, take locks for a moment. */
const CONFIRMATION = 300;

/**
 * Milliseconds for which a running thread may hold the compiler's lock before the request fails. It may compile a file, and then release the
 * lock.
 */
const RUNNING_HOLD = 10_000;

/** The same if it is not known that the request waits for the lock: the holder may also be loading code of ours, for another client. */
const UNKNOWN_HOLD = 20_000;

/** Milliseconds between questions about such a lock. */
const RUNNING_CONFIRMATION = 1000;

/** Milliseconds until the next question if there is no such lock, and the longest such time: it doubles. */
const NEXT_QUESTION = 2000;

const LAST_QUESTION = 30_000;

/** How a request is watched. */
interface Watch {
  /** Called once, when the request has waited for such a lock too long. It is then no longer watched. */
  readonly onHeld: (lock: HeldLock) => void;
  /** True for a request that loads code of ours: it needs the compiler's lock, and the image may not know yet that it runs. */
  readonly compiles?: boolean | undefined;
  /**
   * True for an evaluation: it is watched for the compiler's lock only, and only if a stopped thread holds that. Other locks may be held and
   * awaited by the program's own design, and an evaluation has a time limit of its own.
   */
  readonly isEvaluation?: boolean | undefined;
}

/** The time of a request's next question, and what the last one has found. */
interface Question {
  due: number;
  pause: number;
  before: HeldLock | undefined;
  /** When that was first found. */
  since: number;
}

/** A lock that was found. `patience`: the milliseconds for which the request may wait for it. */
interface FoundLock {
  readonly lock: HeldLock;
  readonly patience: number;
}

type Due = readonly [id: number, watch: Watch, question: Question];

/**
 * Finds out which of the running requests wait for a lock until a client resumes or aborts a stop, or for the compiler's lock longer than they
 * may. One question in the image serves all of them.
 */
class LockWatch {
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
      if (question === undefined)
        this.#questions.set(watch, { due: now, pause: NEXT_QUESTION, before: undefined, since: now });
      else if (question.due <= now) due.push([id, watch, question]);
    }
    if (due.length === 0) return;
    const locks = await this.#locks(due);
    for (const asked of due) if (this.#running.get(asked[0]) === asked[1]) this.#take(asked, locks.get(asked[0]));
  }

  /** The locks that requests wait for, by the requests' ids. */
  async #locks(due: readonly Due[]): Promise<ReadonlyMap<number, FoundLock>> {
    const reply = await this.#ask(heldLocksForm(due.map(([id]) => id)));
    if (reply?.status !== "ok") return new Map();
    const awaited = heldLocksIn(reply);
    const locks = new Map([...awaited].map(([id, lock]) => [id, { lock, patience: patienceFor(lock, RUNNING_HOLD) }]));
    // The image may have had nothing of ours yet when a request that loads our code began, and that code is compiled, or takes the lock to load.
    const unknown = due.filter(([id, { compiles }]) => compiles === true && !locks.has(id));
    if (unknown.length === 0) return locks;
    const answer = await this.#ask(heldCompilersLockForm());
    const held = answer?.status === "ok" ? decodedIfKnown(heldCompilersLock, answer.value) : undefined;
    if (held === undefined) return locks;
    const { lock, requests } = held;
    const found = { lock, patience: patienceFor(lock, UNKNOWN_HOLD) };
    for (const [id] of unknown) if (lock.level > 0 || !requests.includes(id)) locks.set(id, found);
    return locks;
  }

  #take([id, watch, question]: Due, found: FoundLock | undefined): void {
    const now = performance.now();
    const lock = found !== undefined && endsWait(watch, found.lock) ? found.lock : undefined;
    if (lock !== undefined && isSameHold(question.before, lock)) {
      if (now - question.since >= (found?.patience ?? 0)) {
        this.#running.delete(id);
        watch.onHeld(lock);
        return;
      }
    } else question.since = now;
    question.before = lock;
    question.due = now + pauseAfter(lock, question);
    if (lock === undefined) question.pause = Math.min(question.pause * 2, LAST_QUESTION);
  }
}

/** Milliseconds for which a request may wait for a lock; `running` if a running thread holds it. */
function patienceFor({ level }: HeldLock, running: number): number {
  return level > 0 ? 0 : running;
}

/** Whether a wait for a lock must end some time. */
function endsWait({ isEvaluation = false }: Watch, { isCompilers, level }: HeldLock): boolean {
  return isEvaluation ? isCompilers && level > 0 : isCompilers || level > 0;
}

/** Milliseconds until the next question after one that has found a lock, or none. */
function pauseAfter(lock: HeldLock | undefined, { pause }: Question): number {
  if (lock === undefined) return pause;
  return lock.level > 0 ? CONFIRMATION : RUNNING_CONFIRMATION;
}

/** Milliseconds that the image has to say which threads wait. */
const WAITS_TIME = 3000;

/**
 * Asks the image over a connection that it answers whether it serves its other connections. Never rejects.
 *
 * @returns the lock that a thread that serves one of them waits for, and the thread that holds it, e.g. `the lock "cache", which thread 7
 * holds`; `undefined` if there is none or that is not known
 */
export function unservedReason(connection: Connection): Promise<string | undefined> {
  return lastingWait(connection, "serving-locks");
}

/** The same for the requests of this connection itself. Never rejects. */
export function awaitedLock(connection: Connection): Promise<string | undefined> {
  return lastingWait(connection, "awaited-locks");
}

/** The threads that serve other connections, or those that run requests of this one. */
type Waiting = "serving-locks" | "awaited-locks";

async function lastingWait(connection: Connection, whose: Waiting): Promise<string | undefined> {
  const before = await waits(connection, whose);
  if (before.length === 0) return undefined;
  await pause(CONFIRMATION);
  const lock = (await waits(connection, whose)).find((now) => before.some((earlier) => isSameHold(earlier, now)));
  return lock && heldLockText(lock);
}

/** The locks that such threads wait for; none in an image without the system `connection`. */
async function waits(connection: Connection, whose: Waiting): Promise<readonly HeldLock[]> {
  try {
    const form = connectionFunctionForm(whose, NIL);
    const reply = await connection.request(form, { label: "finding locks", timeout: WAITS_TIME });
    return reply.status === "ok" ? (decodedIfKnown(list(heldLock), reply.value) ?? []) : [];
  } catch {
    // The connection is then closed or unanswered, so that nothing is known.
    return [];
  }
}

/** Options of a request for a form that is expected to return without stopping. */
export interface FormOptions {
  /** Names the operation in error messages. */
  readonly label: string;
  readonly package?: string;
  /** Default: a new thread. */
  readonly thread?: number;
  /** Milliseconds to wait for the reply. The image then ends the request. */
  readonly timeout?: number;
  /** Ends the wait and the request when aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** Something that happens once, such as the end of a stop. */
interface Ending {
  readonly isOpen: boolean;
  /** Calls a function when it happens, or at once if it has happened. */
  onOpen(listener: () => void): void;
  /** Forgets a function that was given to `onOpen`. */
  forget(listener: () => void): void;
}

/** Options of the client's own requests. */
interface OwnOptions {
  /** The request loads code of ours, which may be the first. */
  readonly compiles?: boolean | undefined;
  /** Ends the wait and the request when it opens. */
  readonly until?: Ending | undefined;
}

/** Milliseconds that the image has to end an abandoned request. */
const ENDING_TIME = 30_000;

/** Milliseconds that the image has to say which locks requests wait for. */
const QUESTION_TIME = 10_000;

/** The same while an interrupt waits for the answer. */
const AWAITED_TIME = 500;

/** The end of a wait for what will not come. */
const OVER = { code: "CANCELLED", message: "The wait was cancelled." } as const;

const INVOKE_RESTART = symbol("swank:invoke-nth-restart-for-emacs");

/**
 * Runs the client's own small requests, and unwinds those that enter the debugger: they never leave a thread stopped or one level deeper.
 */
export class Caller {
  readonly #connection: Connection;
  /** Running requests, with the condition that stopped each. */
  readonly #stopped = new Map<number, DebugMessage | undefined>();
  /** Running requests and evaluations, which may wait for a lock that another thread holds. */
  readonly #watched = new Map<number, Watch>();
  readonly #locks = new LockWatch(this.#watched, (form) => this.#ask(form, "finding a lock", QUESTION_TIME));
  #looking: NodeJS.Timeout | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
    connection.on("debug", (message) => {
      if (this.owns(message)) this.#unwind(message);
    });
  }

  get isOpen(): boolean {
    return this.#connection.isOpen;
  }

  /** Closes the connection because the other side violates the protocol. */
  giveUp(reason: SwankError): void {
    void this.#connection.drop(reason);
  }

  /**
   * @throws SwankError `REQUEST_FAILED` if the form signals an error, `NOT_SUPPORTED` if SBCL lacks what it needs, `REQUEST_ABORTED` if it is unwound, and the errors of `Connection.request`.
   */
  async call(form: Sexp, options: FormOptions & OwnOptions): Promise<Sexp> {
    const reply = await this.reply(form, options);
    if (reply.status === "ok") return reply.value;
    throw new SwankError("REQUEST_ABORTED", `${options.label}: The request was aborted in Lisp.`);
  }

  /** Like `Connection.request`, but a request that enters the debugger is unwound and rejects with `REQUEST_FAILED`. */
  async reply(form: Sexp, options: RequestOptions & OwnOptions): Promise<Reply> {
    const { label, package: packageName, thread, timeout, signal, compiles, until } = options;
    const { id = this.#connection.nextId() } = options;
    if (until?.isOpen) throw new SwankError("CANCELLED", `${label}: Cancelled before it was sent.`);
    this.#stopped.set(id, undefined);
    const isSent = !signal?.aborted;
    this.watch(id, { compiles, onHeld: (lock) => this.#connection.endWait(id, lockHeld(lock)) });
    const onEnd = until && (() => this.#connection.endWait(id, OVER));
    if (onEnd !== undefined) until?.onOpen(onEnd);
    let isGivenUp = false;
    try {
      const request = { label, package: packageName, thread, timeout, signal, id };
      const reply = await this.#connection.request(form, request);
      const stop = this.#stopped.get(id);
      if (reply.status === "abort" && stop !== undefined) throw requestFailed(label, stop.condition);
      return reply;
    } catch (error) {
      isGivenUp = isSent && this.isOpen && isWaitOver(error);
      throw error;
    } finally {
      this.unwatch(id);
      if (onEnd !== undefined) until?.forget(onEnd);
      if (isGivenUp) void this.#end(id);
      else this.#stopped.delete(id);
    }
  }

  /** Watches a request until `unwatch`. This costs nothing until it has run for a while. */
  watch(id: number, watch: Watch): void {
    this.#watched.set(id, watch);
    this.#looking ??= setTimeout(this.#look, LOOKING).unref();
  }

  unwatch(id: number): void {
    this.#watched.delete(id);
  }

  /** The lock that a request waits for now, and its holder; `undefined` if there is none or that is not known. Never rejects. */
  async awaitedLock(id: number): Promise<HeldLock | undefined> {
    return heldLocksIn(await this.#ask(heldLocksForm([id]), "finding a lock", AWAITED_TIME)).get(id);
  }

  readonly #look = async (): Promise<void> => {
    await this.#locks.look();
    this.#looking = this.#watched.size === 0 ? undefined : setTimeout(this.#look, LOOKING).unref();
  };

  /** Ends a request in the image, in whatever thread it runs. Never rejects. Has no effect in an image without the system `connection`. */
  async end(id: number): Promise<void> {
    await this.#ask(connectionFunctionForm("end-request", id), "ending a request", ENDING_TIME);
  }

  /** Ends an abandoned request in the image. Until then its stops are still unwound here. */
  async #end(id: number): Promise<void> {
    await this.end(id);
    this.#stopped.delete(id);
  }

  /** The reply to a request about another one; `undefined` if it fails. */
  async #ask(form: Sexp, label: string, timeout: number): Promise<Reply | undefined> {
    const id = this.#connection.nextId();
    this.#stopped.set(id, undefined);
    try {
      return await this.#connection.request(form, { label, id, timeout });
    } catch {
      return undefined;
    } finally {
      this.#stopped.delete(id);
    }
  }

  /** True if the stop belongs to one of these requests, which is then being unwound. */
  owns({ continuations: [innermost] }: DebugMessage): boolean {
    return innermost !== undefined && this.#stopped.has(innermost);
  }

  #unwind(message: DebugMessage): void {
    const { thread, level, restarts, continuations } = message;
    for (const id of continuations.slice(0, 1)) {
      const first = this.#stopped.get(id);
      this.#stopped.set(id, first ?? message);
      // A debugger that stops while it describes a stop would do so again at each level.
      if (first !== undefined) return void this.#end(id);
    }
    // At level 1 the thread does nothing but this request. Deeper, only the newest level belongs to the request.
    const wayOut = restarts.findIndex((restart) => (level === 1 ? restart.topLevel : restart.name === "ABORT"));
    const form = listForm(INVOKE_RESTART, level, Math.max(wayOut, 0));
    void this.#connection.request(form, { label: "leaving the debugger", thread }).catch(() => undefined);
  }
}

const callers = new WeakMap<Connection, Caller>();

/** The connection's only caller, so that all users of the connection recognize stops of its requests. */
export function callerOf(connection: Connection): Caller {
  const known = callers.get(connection);
  if (known !== undefined) return known;
  const caller = new Caller(connection);
  callers.set(connection, caller);
  return caller;
}

/** Errors that end a wait without the image's knowledge. */
const WAIT_OVER: readonly SwankErrorCode[] = ["REQUEST_TIMEOUT", "CANCELLED", "LOCK_HELD"];

function isWaitOver(error: unknown): boolean {
  return error instanceof SwankError && WAIT_OVER.includes(error.code);
}

/** The condition by which the runtime says that SBCL lacks an internal (lisp/port/sbcl-internals.lisp). */
const MISSING_INTERNAL = /^SWANK-CLIENT\/SBCL-INTERNALS\b.*:MISSING-INTERNAL$/;

/** The error for a request that a condition ended in Lisp. The names of the runtime's own conditions mean nothing to a reader. */
export function requestFailed(label: string, { message, type }: { readonly message: string; readonly type: string }) {
  const shown = type.startsWith("SWANK-CLIENT/") ? "" : ` [${type}]`;
  const code = MISSING_INTERNAL.test(type) ? "NOT_SUPPORTED" : "REQUEST_FAILED";
  return new SwankError(code, `${label}: ${message}${shown}`);
}
