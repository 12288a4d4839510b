import type { Sexp } from "sexp-parser";
import { invokeNthRestartForEmacs } from "./commands/invoke-nth-restart-for-emacs.js";
import type { Connection } from "./connection/connection.js";
import type { RequestOptions } from "./connection/request-options.js";
import { SwankError } from "./errors.js";
import { endRequestForm } from "./guard.js";
import { unlessAborted } from "./unless-aborted.js";
import type { DebugMessage, Reply } from "./wire/messages.js";

/** How to run a form that is expected to come back without stopping. */
export interface CallOptions {
  /** Names the operation in error messages. */
  readonly label: string;
  readonly package?: string;
  /** Default: a thread of its own. */
  readonly thread?: number;
  /** Milliseconds to wait for the reply; then the request is ended in the image. */
  readonly timeout?: number;
  /** Ends the wait and the request when aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** Milliseconds that the image has to end a request that nobody waits for. */
const ENDING_TIME = 30_000;

/** What a request that unwinds its thread comes back with. */
export const UNWOUND = Symbol("unwound");

/**
 * Runs small requests of the client's own, and unwinds those that enter the debugger: they never leave a thread stopped, nor one level
 * deeper than it was.
 */
export class Caller {
  readonly #connection: Connection;
  /** Requests under way, with what stopped them. */
  readonly #stopped = new Map<number, DebugMessage | undefined>();

  constructor(connection: Connection) {
    this.#connection = connection;
    connection.on("event", (message) => {
      if (message.type === "debug" && this.owns(message)) this.#unwind(message);
    });
  }

  get isOpen(): boolean {
    return this.#connection.isOpen;
  }

  /** Closes the connection, which the other side misuses. */
  giveUp(reason: SwankError): void {
    void this.#connection.drop(reason);
  }

  /**
   * @throws SwankError `REQUEST_FAILED` when the form signals an error, `REQUEST_ABORTED` when it is unwound, and what `Connection.request` throws.
   */
  async call(form: Sexp, options: CallOptions): Promise<Sexp> {
    const value = await this.callUnwinding(form, options);
    if (value !== UNWOUND) return value;
    throw new SwankError("REQUEST_ABORTED", `${options.label}: The request was aborted in Lisp.`);
  }

  /**
   * Calls what a module of the runtime has, when it is loaded.
   *
   * @throws SwankError as `call` does, and why the module could not be loaded.
   */
  async ask<Calls>(loading: Promise<Calls>, form: (calls: Calls) => Sexp, options: CallOptions): Promise<Sexp> {
    const cancelled = (cause: unknown) =>
      new SwankError("CANCELLED", `${options.label}: Cancelled before it was sent.`, { cause });
    return this.call(form(await unlessAborted(loading, options.signal, cancelled)), options);
  }

  /** The same for forms that may leave their thread's stop, which is no failure. */
  async callUnwinding(form: Sexp, options: CallOptions): Promise<Sexp | typeof UNWOUND> {
    const reply = await this.reply(form, options);
    return reply.status === "ok" ? reply.value : UNWOUND;
  }

  /** As `Connection.request`, but a request that enters the debugger is unwound and rejects with `REQUEST_FAILED`. */
  async reply(form: Sexp, options: RequestOptions): Promise<Reply> {
    const id = options.id ?? this.#connection.nextId();
    this.#stopped.set(id, undefined);
    const isSent = !options.signal?.aborted;
    let isGivenUp = false;
    try {
      const reply = await this.#connection.request(form, { ...options, id });
      const stop = this.#stopped.get(id);
      if (reply.status === "abort" && stop !== undefined) throw requestFailed(options.label, stop);
      return reply;
    } catch (error) {
      isGivenUp = isSent && this.isOpen && isWaitOver(error);
      throw error;
    } finally {
      if (isGivenUp) void this.#end(id);
      else this.#stopped.delete(id);
    }
  }

  /** Ends a request that nobody waits for in the image. Until then its stops are still unwound here. */
  async #end(id: number): Promise<void> {
    const ending = this.#connection.nextId();
    this.#stopped.set(ending, undefined);
    const options = { label: "ending a request", id: ending, timeout: ENDING_TIME };
    await this.#connection.request(endRequestForm(id), options).catch(() => undefined);
    this.#stopped.delete(ending);
    this.#stopped.delete(id);
  }

  /** True if the stop belongs to one of these requests; it is being unwound then. */
  owns({ continuations: [innermost] }: DebugMessage): boolean {
    return innermost !== undefined && this.#stopped.has(innermost);
  }

  #unwind(message: DebugMessage): void {
    const { thread, level, restarts, continuations } = message;
    for (const id of continuations.slice(0, 1)) this.#stopped.set(id, message);
    // At level 1 the request is all that the thread does; deeper, only the newest level is ours to leave.
    const wayOut = restarts.findIndex((restart) => (level === 1 ? restart.topLevel : restart.name === "ABORT"));
    const { name, encode } = invokeNthRestartForEmacs;
    void this.#connection.request(encode(level, Math.max(wayOut, 0)), { label: name, thread }).catch(() => undefined);
  }
}

const callers = new WeakMap<Connection, Caller>();

/** The connection's one caller, so that every stop of its requests is known to all who look. */
export function callerOf(connection: Connection): Caller {
  const known = callers.get(connection);
  if (known !== undefined) return known;
  const caller = new Caller(connection);
  callers.set(connection, caller);
  return caller;
}

/** The image was not told that the wait is over. */
function isWaitOver(error: unknown): boolean {
  return error instanceof SwankError && (error.code === "REQUEST_TIMEOUT" || error.code === "CANCELLED");
}

function requestFailed(label: string, { condition }: DebugMessage): SwankError {
  return new SwankError("REQUEST_FAILED", `${label}: ${condition.message} [${condition.type}]`);
}
