import { NIL, type Sexp } from "sexp-parser";
import { asSwankError, CallSite, SwankError } from "../../base/errors.js";
import { catchRejection, TypedEmitter } from "../../base/typed-emitter.js";
import type { NetworkPeer, Transport, TransportFactory } from "../transport/transport.js";
import { type ClientMessage, NO_THREAD, printMessagePieces } from "../wire/encode-message.js";
import { encodeFrame, encodePieces, FrameDecoder, SentFrames } from "../wire/frames.js";
import type { Reply, SwankMessage } from "../wire/messages.js";
import { readMessage } from "../wire/read-message.js";
import {
  CONNECTION_EVENTS,
  type ConnectionEvents,
  type ConnectionOptions,
  checkConnectionOptions,
  DEFAULTS,
} from "./connection-options.js";
import { defaultReply, MOST_UNREAD_ANSWERS } from "./default-replies.js";
import { Farewell } from "./farewell.js";
import { Heartbeat, type HeartbeatOptions } from "./heartbeat.js";
import { checkRequestOptions, PendingRequests, type RequestFailure, type RequestOptions } from "./requests.js";

/**
 * A connection to a Swank server: sends requests, matches replies to them, and emits all messages as events.
 *
 * It answers questions of Lisp threads, so that no thread waits forever because there is no listener.
 */
export class Connection extends TypedEmitter<ConnectionEvents> {
  /** Resolves with the reason when the transport is closed, `CONNECTION_CLOSED` if this side closed it. Never rejects. */
  readonly closed: Promise<SwankError>;
  readonly #options: ConnectionOptions;
  readonly #transport: Transport;
  readonly #decoder: FrameDecoder;
  readonly #pending = new PendingRequests();
  readonly #sent = new SentFrames();
  #lastId = 0;
  /** Why the connection has ended or is ending; `undefined` while it is open. */
  #reason: SwankError | undefined;
  /** Answers sent since the send queue was last empty. */
  #unreadAnswers = 0;
  #farewell: Farewell | undefined;
  readonly #heartbeat: Heartbeat | undefined;
  #chunksReceived = 0;
  #isAnswering = true;

  constructor(factory: TransportFactory, options: ConnectionOptions = {}) {
    checkConnectionOptions(options);
    super(CONNECTION_EVENTS, options.onListenerError);
    this.#options = options;
    this.closed = new Promise((resolve) => this.once("closed", resolve));
    this.#decoder = new FrameDecoder((payload) => this.#onPayload(payload), { limit: options.frameLimit });
    this.#transport = factory({
      onData: (chunk) => this.#onData(chunk),
      onClose: (error) => this.#onClose(error),
    });
    if (options.secret !== undefined) this.#transport.send(encodeFrame(options.secret));
    this.#heartbeat = options.heartbeat === false ? undefined : this.#startHeartbeat(options.heartbeat);
  }

  /** True while requests can be sent. */
  get isOpen(): boolean {
    return this.#reason === undefined;
  }

  /** The server, e.g. `127.0.0.1:4005`. */
  get description(): string {
    return this.#transport.description;
  }

  /** The other end, if the connection goes through a network. */
  get peer(): NetworkPeer | undefined {
    return this.#transport.peer;
  }

  /** The number of requests that wait for a reply. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  /** The number of data chunks that have arrived. It grows whenever anything arrives. */
  get received(): number {
    return this.#chunksReceived;
  }

  /**
   * Asks the server for a sign of life, which Swank gives without running anything. Never rejects.
   *
   * @returns whether anything arrived within `time` milliseconds; false if the connection has ended.
   */
  async answersWithin(time: number): Promise<boolean> {
    const before = this.#chunksReceived;
    await this.#askForLife(time);
    return this.isOpen && this.#chunksReceived !== before;
  }

  /** A new request id. */
  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /**
   * Evaluates a form in the image.
   *
   * @param form - Evaluated in the image: symbols must name their packages, and lists that are data must be quoted.
   * @returns the outcome. A request whose form enters the debugger has none yet.
   * @throws SwankError `CONNECTION_CLOSED`, `CONNECTION_LOST` and whatever else ended the connection; `REQUEST_UNREADABLE`,
   * `NO_SUCH_THREAD`, `REQUEST_TIMEOUT`, `CANCELLED`, `UNEXPECTED_REPLY`, `UNREADABLE_MESSAGE`; before anything is sent `INVALID_ARGUMENT`,
   * `FRAME_TOO_LARGE`, `BACKLOG_FULL`
   */
  async request(form: Sexp, options: RequestOptions): Promise<Reply> {
    return await this.#ask(form, options, new CallSite(this.request));
  }

  /**
   * Like {@link request}, in less time: the stack of an error names only the functions that wait for the reply with `await`, because the
   * caller's stack is not recorded.
   */
  async exchange(form: Sexp, options: RequestOptions): Promise<Reply> {
    try {
      return await this.#ask(form, options);
    } catch (error) {
      throw error instanceof SwankError ? error.movedTo(new CallSite(this.exchange)) : error;
    }
  }

  /** Ends the wait for a reply with an error. The request continues in the image. */
  endWait(id: number, failure: RequestFailure): void {
    this.#pending.fail(id, failure);
  }

  #ask(form: Sexp, options: RequestOptions, origin?: CallSite): Promise<Reply> {
    const { label, signal, thread = "t" } = options;
    checkRequestOptions(options);
    this.#checkReady(label, signal, origin);
    const id = this.#claimId(options);
    const frame = encodePieces(printMessagePieces({ type: "emacs-rex", form, package: options.package, thread, id }));
    const timeout = options.timeout ?? this.#defaultTimeout(thread);
    const reply = this.#pending.add({ id, label, origin, timeout, signal });
    this.#transmit(frame);
    return reply;
  }

  /**
   * Sends a message that has no reply.
   *
   * @returns false, and sends nothing, if the connection has ended.
   * @throws SwankError `INVALID_ARGUMENT`, `FRAME_TOO_LARGE`
   */
  send(message: ClientMessage): boolean {
    if (!this.isOpen) return false;
    this.#transmit(encodePieces(printMessagePieces(message)));
    return true;
  }

  /**
   * Closes the connection in an orderly way: rejects pending requests, ends the stream, and waits briefly for the other side to close.
   *
   * Requests that run in Swank continue; abort them before.
   *
   * @param reason - The error for pending requests. Default: `CONNECTION_CLOSED`.
   * @returns when all resources are released. Never rejects. A second call waits for the same end.
   */
  async close(reason = closedHere()): Promise<void> {
    if (this.isOpen) {
      const asks = this.#pending.hasUndispatched;
      this.#end(reason);
      this.#farewell = new Farewell(this.#transport, this.#options.linger ?? DEFAULTS.linger, asks);
    }
    await this.closed;
  }

  /** Closes the connection at once, without waiting for the other side; otherwise like {@link close}. */
  async drop(reason = closedHere()): Promise<void> {
    this.#end(reason);
    this.#transport.destroy();
    await this.closed;
  }

  #checkReady(label: string, signal: AbortSignal | undefined, origin?: CallSite): void {
    if (this.#reason !== undefined) {
      const { code, message, remedy, details } = this.#reason;
      throw new SwankError(code, `${label}: ${message}`, { cause: this.#reason, remedy, details, origin });
    }
    if (signal?.aborted) {
      throw new SwankError("CANCELLED", `${label}: Cancelled before it was sent.`, { cause: signal.reason, origin });
    }
    const backlog = this.#transport.backlog;
    if (backlog > (this.#options.backlogLimit ?? DEFAULTS.backlogLimit)) {
      throw new SwankError("BACKLOG_FULL", `${label}: ${backlog} bytes are already queued.`, { origin });
    }
  }

  #claimId({ id = this.nextId(), label }: RequestOptions): number {
    if (this.#pending.has(id)) throw new SwankError("INVALID_ARGUMENT", `${label}: The id ${id} is in use.`);
    this.#lastId = Math.max(this.#lastId, id);
    return id;
  }

  #defaultTimeout(thread: unknown): number {
    return typeof thread === "number"
      ? (this.#options.threadTimeout ?? DEFAULTS.threadTimeout)
      : Number.POSITIVE_INFINITY;
  }

  #transmit(frame: Uint8Array): void {
    this.#sent.add(frame);
    this.#transport.send(frame);
  }

  #onData(chunk: Uint8Array): void {
    // After close() the remaining data is read only so that the other side can finish writing.
    if (!this.isOpen) return void this.#farewell?.read(() => this.#decoder.push(chunk));
    this.#chunksReceived += 1;
    if (!this.#isAnswering) this.#changeAnswering(true);
    try {
      this.#decoder.push(chunk);
    } catch (error) {
      this.#abandon(error);
    }
  }

  #onPayload(payload: string): void {
    if (!this.isOpen) return void this.#farewell?.hear(payload);
    const message = readMessage(payload);
    this.#answer(message);
    if (!this.#pending.settle(message)) this.emit("unclaimed", message);
    if (message.type === "debug") this.emit("debug", message);
    this.emit("event", message);
  }

  /** Answers a message before any listener sees it, because a Lisp thread may be waiting. */
  #answer(message: SwankMessage): void {
    const reply = defaultReply(message);
    if (reply === undefined) return;
    this.#countAnswer();
    try {
      const chosen = this.#options.replyPolicy?.(message) ?? reply;
      catchRejection(chosen, (error) => this.reportListenerError(error, "replyPolicy"));
      if (chosen !== "later") this.send(chosen);
    } catch (error) {
      this.reportListenerError(error, "replyPolicy");
      this.send(reply);
    }
  }

  /** Limits unread answers. A Lisp thread waits for its answer, so an image that reads has at most one per thread. */
  #countAnswer(): void {
    this.#unreadAnswers = this.#transport.backlog === 0 ? 0 : this.#unreadAnswers + 1;
    if (this.#unreadAnswers <= MOST_UNREAD_ANSWERS) return;
    const message = `${this.description} has not read the last ${MOST_UNREAD_ANSWERS} answers to its questions.`;
    throw new SwankError("LIMIT_EXCEEDED", message);
  }

  #onClose(error: SwankError | undefined): void {
    this.#farewell?.end();
    this.emit("closed", this.#end(this.#explain(error ?? this.#hangUp())));
  }

  #startHeartbeat(options: HeartbeatOptions = {}): Heartbeat {
    return new Heartbeat(options, {
      received: () => this.#chunksReceived,
      probe: () => void this.#askForLife(),
      onOverdue: () => this.#changeAnswering(false),
      giveUp: (silence) =>
        this.#abandon(new SwankError("UNRESPONSIVE", `${this.description} has not answered for ${silence} ms.`)),
    });
  }

  #changeAnswering(isAnswering: boolean): void {
    this.#isAnswering = isAnswering;
    this.emit("answering", isAnswering);
  }

  /** Swank refuses a request to a thread that cannot exist without running anything (swank.lisp, `dispatch-event`). */
  async #askForLife(timeout = Number.POSITIVE_INFINITY): Promise<void> {
    const options = { label: "heartbeat", thread: NO_THREAD, timeout };
    await this.request(NIL, options).catch(() => undefined);
  }

  #abandon(error: unknown): void {
    this.#end(this.#explain(error));
    this.#transport.destroy();
  }

  /** Ends the connection. Every ending calls this; the first reason counts. */
  #end(reason: SwankError): SwankError {
    if (this.#reason !== undefined) return this.#reason;
    this.#reason = reason;
    this.#heartbeat?.stop();
    this.#pending.clear(reason);
    return reason;
  }

  #hangUp(): SwankError {
    const where = this.#decoder.isPartial ? " in the middle of a message" : "";
    return new SwankError("CONNECTION_LOST", `${this.description} closed the connection${where}.`);
  }

  /** Adds what was sent last. */
  #explain(error: unknown): SwankError {
    const { code, message, remedy, details, cause } = asSwankError(error);
    return new SwankError(code, message, {
      remedy,
      cause,
      details: { ...details, lastSent: this.#sent.excerpts() },
    });
  }
}

function closedHere(): SwankError {
  return new SwankError("CONNECTION_CLOSED", "This side closed the connection.");
}
