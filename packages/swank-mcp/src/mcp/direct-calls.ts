import {
  errorResponse,
  INTERNAL_ERROR,
  isId,
  type Message,
  type MessageId,
  type Request,
  type Response,
} from "./transport.js";

/** The parts of a tool call that the client sends. */
export interface SentCall {
  readonly name?: unknown;
  readonly arguments?: unknown;
}

/** A tool call and the connection that it came from. */
export interface ReceivedCall {
  readonly call: SentCall;
  /** Aborted when the client cancels the call or disconnects. */
  readonly signal: AbortSignal;
  /** Names the call in progress notifications; absent if the client wants none. */
  readonly progressToken: MessageId | undefined;
  /** Sends a notification to the client. */
  notify(method: string, params: object): Promise<void>;
}

export interface DirectCallsOptions {
  /** Runs a call, and returns the result of its request. */
  run(received: ReceivedCall): Promise<object>;
  send(message: Message): Promise<void>;
  onError(error: Error): void;
}

/**
 * Serves the tool calls of a client of a protocol revision up to 2025 without the SDK, whose copies and checks of a request and its result take
 * longer than most calls. The tools check the arguments, and the result is their own.
 */
export class DirectCalls {
  readonly #options: DirectCallsOptions;
  /** By id. The client may use the id of a cancelled call again before that has ended. */
  readonly #running = new Map<MessageId, AbortController>();

  constructor(options: DirectCallsOptions) {
    this.#options = options;
  }

  /** Runs a call and sends its answer. */
  take({ id, params }: Request): void {
    const cancelling = new AbortController();
    this.#running.set(id, cancelling);
    void this.#serve(id, { ...params }, cancelling).catch(this.#options.onError);
  }

  /** Cancels a call, which then gets no answer. Does nothing for the id of another request. */
  cancel(id: unknown, reason?: unknown): void {
    if (isId(id)) this.#running.get(id)?.abort(reason);
  }

  /** Cancels all calls: the client has disconnected. */
  close(): void {
    for (const cancelling of this.#running.values()) cancelling.abort();
  }

  async #serve(id: MessageId, call: CallParams, cancelling: AbortController): Promise<void> {
    const answer = await this.#answer(id, call, cancelling.signal);
    if (this.#running.get(id) === cancelling) this.#running.delete(id);
    if (!cancelling.signal.aborted) await this.#options.send(answer);
  }

  async #answer(id: MessageId, call: CallParams, signal: AbortSignal): Promise<Response> {
    const { run, send } = this.#options;
    const notify = (method: string, params: object) => send({ jsonrpc: "2.0", method, params });
    try {
      const result = await run({ call, signal, progressToken: call._meta?.progressToken, notify });
      return { jsonrpc: "2.0", id, result };
    } catch (error) {
      return errorResponse(id, INTERNAL_ERROR, error instanceof Error ? error.message : String(error));
    }
  }
}

/** Parameters of a call. The transport has checked `_meta`. */
interface CallParams extends SentCall {
  readonly _meta?: { readonly progressToken?: MessageId };
}
