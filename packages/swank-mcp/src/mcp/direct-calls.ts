import { getEventListeners } from "node:events";
import { errorResponse, isId, type Message, type MessageId, type Request } from "./transport/message.js";

/** JSON-RPC's error code for a defect of the server. */
const INTERNAL_ERROR = -32603;

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
  readonly #running = new Map<MessageId, AbortController>();
  /** For the next call. Making one takes longer than all else that is done here for a call. */
  #spare: AbortController | undefined;

  constructor(options: DirectCallsOptions) {
    this.#options = options;
  }

  /** Runs a call and sends its answer. */
  take({ id, params }: Request): void {
    const cancelling = this.#spare ?? new AbortController();
    this.#spare = undefined;
    this.#running.set(id, cancelling);
    void this.#serve(id, { ...params }, cancelling).catch(this.#options.onError);
  }

  /** Cancels a call, which then gets no answer. Does nothing for the id of another request. */
  cancel(id: unknown): void {
    if (isId(id)) this.#running.get(id)?.abort();
  }

  /** Cancels all calls: the client has disconnected. */
  close(): void {
    for (const cancelling of this.#running.values()) cancelling.abort();
  }

  async #serve(id: MessageId, call: CallParams, cancelling: AbortController): Promise<void> {
    const { run, send } = this.#options;
    const { signal } = cancelling;
    const notify = (method: string, params: object) => send({ jsonrpc: "2.0", method, params });
    const received = { call, signal, progressToken: call._meta?.progressToken, notify };
    const answer = await run(received).then(
      (result) => ({ jsonrpc: "2.0" as const, id, result }),
      (error: unknown) => errorResponse(id, INTERNAL_ERROR, error instanceof Error ? error.message : String(error)),
    );
    this.#running.delete(id);
    if (signal.aborted) return;
    // Whatever still listens must not hear of another call's end.
    if (getEventListeners(signal, "abort").length === 0) this.#spare = cancelling;
    await send(answer);
  }
}

/** Parameters of a call. The transport has checked `_meta`. */
interface CallParams extends SentCall {
  readonly _meta?: { readonly progressToken?: MessageId };
}
