import { list, type Sexp, symbol } from "sexp-parser";
import { SwankError, type SwankErrorCode } from "../base/errors.js";
import type { Connection } from "../protocol/connection/connection.js";
import type { RequestOptions } from "../protocol/connection/requests.js";
import type { DebugMessage, Reply } from "../protocol/wire/messages.js";
import { endRequestForm } from "./end-request.js";
import { lockHeld } from "./held-lock.js";
import { LOOKING, LockWatch, type Watch } from "./lock-watch.js";

/** Options of a call that is expected to return without stopping. */
export interface CallOptions {
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
export interface Ending {
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
  /** Running requests and evaluations, which may wait for a lock that a stopped thread holds. */
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
   * @throws SwankError `REQUEST_FAILED` if the form signals an error, `REQUEST_ABORTED` if it is unwound, and the errors of `Connection.request`.
   */
  async call(form: Sexp, options: CallOptions & OwnOptions): Promise<Sexp> {
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
      const reply = await this.#connection.exchange(form, request);
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

  readonly #look = async (): Promise<void> => {
    await this.#locks.look();
    this.#looking = this.#watched.size === 0 ? undefined : setTimeout(this.#look, LOOKING).unref();
  };

  /** Ends an abandoned request in the image. Until then its stops are still unwound here. */
  async #end(id: number): Promise<void> {
    await this.#ask(endRequestForm(id), "ending a request", ENDING_TIME);
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
    const form = list(INVOKE_RESTART, level, Math.max(wayOut, 0));
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

/** The error for a request that a condition ended in Lisp. The names of the runtime's own conditions mean nothing to a reader. */
export function requestFailed(label: string, { message, type }: { readonly message: string; readonly type: string }) {
  const shown = type.startsWith("SWANK-CLIENT/") ? "" : ` [${type}]`;
  return new SwankError("REQUEST_FAILED", `${label}: ${message}${shown}`);
}
