import { NIL, type Sexp } from "sexp-parser";
import { catchRejection } from "../call-listener.js";
import { deferred } from "../deferred.js";
import { asSwankError, CallSite, SwankError } from "../errors.js";
import type { NetworkPeer, Transport, TransportFactory } from "../transport/transport.js";
import type { ClientMessage } from "../wire/encode-message.js";
import { FrameDecoder } from "../wire/frame-decoder.js";
import { encodeFrame } from "../wire/frame-encoder.js";
import type { Reply, SwankMessage } from "../wire/messages.js";
import { printMessage } from "../wire/print-message.js";
import { readMessage } from "../wire/read-message.js";
import {
  type ConnectionEvents,
  type ConnectionOptions,
  checkConnectionOptions,
  DEFAULTS,
} from "./connection-options.js";
import { defaultReply } from "./default-replies.js";
import { Heartbeat, type HeartbeatOptions } from "./heartbeat.js";
import { PendingRequests } from "./pending-requests.js";
import { requestFailure } from "./request-failure.js";
import { checkRequestOptions, type RequestOptions } from "./request-options.js";
import { SentLog } from "./sent-log.js";
import { TypedEmitter } from "./typed-emitter.js";

/** No thread has this number: Swank counts from 1 or uses the system's thread ids. */
const NO_THREAD = -1;

/** Answers to Lisp's questions that may wait to be sent. */
const MOST_UNREAD_ANSWERS = 20_000;

/**
 * One connection to a Swank server: sends requests, matches replies to them, tells everything else as events.
 *
 * It answers what Lisp threads wait on, so that no thread hangs because nobody listened.
 */
export class Connection extends TypedEmitter<ConnectionEvents> {
  /** Resolves, never rejects, when the transport is closed; with `CONNECTION_CLOSED` when this side asked for it. */
  readonly closed: Promise<SwankError>;
  readonly #options: ConnectionOptions;
  readonly #transport: Transport;
  readonly #decoder: FrameDecoder;
  readonly #pending = new PendingRequests();
  readonly #sent = new SentLog();
  readonly #resolveClosed: (reason: SwankError) => void;
  #lastId = 0;
  /** Why it is over, or about to be; `undefined` while it is open. */
  #reason: SwankError | undefined;
  /** Answers sent since all that was sent before had left this process. */
  #unreadAnswers = 0;
  #linger: NodeJS.Timeout | undefined;
  readonly #heartbeat: Heartbeat | undefined;

  constructor(factory: TransportFactory, options: ConnectionOptions = {}) {
    checkConnectionOptions(options);
    super(options.onListenerError);
    this.#options = options;
    const { promise, resolve } = deferred<SwankError>();
    this.closed = promise;
    this.#resolveClosed = resolve;
    this.#decoder = new FrameDecoder((payload) => this.#onPayload(payload), { limit: options.frameLimit });
    this.#transport = factory({
      onData: (chunk) => this.#onData(chunk),
      onClose: (error) => this.#onClose(error),
    });
    if (options.secret !== undefined) this.#transport.send(encodeFrame(options.secret));
    this.#heartbeat = options.heartbeat === false ? undefined : this.#startHeartbeat(options.heartbeat);
  }

  /** Requests can be sent. */
  get isOpen(): boolean {
    return this.#reason === undefined;
  }

  /** Where it leads, e.g. `127.0.0.1:4005`. */
  get description(): string {
    return this.#transport.description;
  }

  /** The other end, when a network is between. */
  get peer(): NetworkPeer | undefined {
    return this.#transport.peer;
  }

  /** Requests that wait for a reply. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  /** An id for a request; each is given once. */
  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /**
   * Evaluates a form in the image.
   *
   * @param form - Evaluated there: symbols must name their packages, and lists that are data must be quoted.
   * @returns How it ended. A request whose form enters the debugger has not ended.
   * @throws SwankError `CONNECTION_CLOSED`, `CONNECTION_LOST` and whatever else ended the connection; `REQUEST_UNREADABLE`,
   * `NO_SUCH_THREAD`, `REQUEST_TIMEOUT`, `CANCELLED`, `UNEXPECTED_REPLY`, `UNREADABLE_MESSAGE`; before anything is sent `INVALID_ARGUMENT`,
   * `FRAME_TOO_LARGE`, `BACKLOG_FULL`
   */
  async request(form: Sexp, options: RequestOptions): Promise<Reply> {
    const origin = new CallSite(this.request);
    const { label, signal, thread = "t" } = options;
    checkRequestOptions(options);
    this.#checkReady(label, signal, origin);
    const id = this.#claimId(options);
    const text = printMessage({ type: "emacs-rex", form, package: options.package, thread, id });
    const frame = encodeFrame(text);
    const timeout = options.timeout ?? this.#defaultTimeout(thread);
    const reply = this.#pending.add({ id, label, origin, timeout, signal });
    this.#transmit(text, frame);
    return reply;
  }

  /**
   * Sends a message that has no reply.
   *
   * @returns false, and sends nothing, when the connection is over.
   * @throws SwankError `INVALID_ARGUMENT`, `FRAME_TOO_LARGE`
   */
  send(message: ClientMessage): boolean {
    if (!this.isOpen) return false;
    const text = printMessage(message);
    this.#transmit(text, encodeFrame(text));
    return true;
  }

  /**
   * Closes the connection in good order: rejects what waits, says goodbye, and waits a little for the other side to close as well.
   *
   * Swank goes on running what runs; abort it before.
   *
   * @param reason - Given to everything that waits; `CONNECTION_CLOSED` by default.
   * @returns When nothing of the connection is left. Never rejects; calling it again waits for the same end.
   */
  async close(reason = closedHere()): Promise<void> {
    if (this.isOpen) {
      this.#end(reason);
      this.#transport.end();
      this.#linger = setTimeout(() => this.#transport.destroy(), this.#options.linger ?? DEFAULTS.linger);
    }
    await this.closed;
  }

  /** Closes the connection at once, without saying goodbye; otherwise as {@link close}. */
  async drop(reason = closedHere()): Promise<void> {
    this.#end(reason);
    this.#transport.destroy();
    await this.closed;
  }

  #checkReady(label: string, signal: AbortSignal | undefined, origin: CallSite): void {
    if (this.#reason !== undefined) {
      const { code, message, remedy, details } = this.#reason;
      throw new SwankError(code, `${label}: ${message}`, { cause: this.#reason, remedy, details, origin });
    }
    if (signal?.aborted) {
      throw new SwankError("CANCELLED", `${label}: Cancelled before it was sent.`, { cause: signal.reason, origin });
    }
    const backlog = this.#transport.backlog;
    if (backlog > (this.#options.backlogLimit ?? DEFAULTS.backlogLimit)) {
      throw new SwankError("BACKLOG_FULL", `${label}: ${backlog} bytes wait to be sent already.`, { origin });
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

  #transmit(text: string, frame: Uint8Array): void {
    this.#sent.add(text);
    this.#transport.send(frame);
  }

  #onData(chunk: Uint8Array): void {
    // After close() the rest is only read so that the other side can finish writing.
    if (!this.isOpen) return;
    this.#heartbeat?.heard();
    try {
      this.#decoder.push(chunk);
    } catch (error) {
      this.#abandon(error);
    }
  }

  #onPayload(payload: string): void {
    if (!this.isOpen) return;
    const message = readMessage(payload);
    this.#answer(message);
    if (!this.#settle(message)) this.emit("unclaimed", message);
    this.emit("event", message);
  }

  /** Before anything else looks at the message: a Lisp thread may be waiting. */
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

  /** Lisp threads wait for their answers, so that there are never more of them under way than threads. */
  #countAnswer(): void {
    this.#unreadAnswers = this.#transport.backlog === 0 ? 0 : this.#unreadAnswers + 1;
    if (this.#unreadAnswers <= MOST_UNREAD_ANSWERS) return;
    const message = `${this.description} has not read the last ${MOST_UNREAD_ANSWERS} answers to its questions.`;
    throw new SwankError("LIMIT_EXCEEDED", message);
  }

  /** @returns false for a reply that nobody waits for. */
  #settle(message: SwankMessage): boolean {
    if (message.type === "return") return this.#pending.resolve(message.id, message.reply);
    const failure = requestFailure(message);
    if (failure === undefined) return true;
    return failure.id !== undefined && this.#pending.reject(failure.id, failure);
  }

  #onClose(error: SwankError | undefined): void {
    clearTimeout(this.#linger);
    const reason = this.#end(this.#explain(error ?? this.#hangUp()));
    this.#resolveClosed(reason);
    this.emit("closed", reason);
  }

  #startHeartbeat(options: HeartbeatOptions = {}): Heartbeat {
    return new Heartbeat(options, {
      probe: () => void this.#askForLife(),
      onChange: (isAnswering) => this.emit("answering", isAnswering),
      giveUp: (silence) =>
        this.#abandon(new SwankError("UNRESPONSIVE", `${this.description} has not answered for ${silence} ms.`)),
    });
  }

  /** Swank refuses a request to a thread that cannot exist without running anything (swank.lisp, `dispatch-event`). */
  async #askForLife(): Promise<void> {
    const options = { label: "sign of life", thread: NO_THREAD, timeout: Number.POSITIVE_INFINITY };
    await this.request(NIL, options).catch(() => undefined);
  }

  #abandon(error: unknown): void {
    this.#end(this.#explain(error));
    this.#transport.destroy();
  }

  /** Every way to the end leads through here; the first reason stands. */
  #end(reason: SwankError): SwankError {
    if (this.#reason !== undefined) return this.#reason;
    this.#reason = reason;
    this.#heartbeat?.stop();
    this.#pending.clear({
      code: reason.code,
      message: reason.message,
      cause: reason,
      remedy: reason.remedy,
      details: reason.details,
    });
    return reason;
  }

  #hangUp(): SwankError {
    const where = this.#decoder.isPartial ? " in the middle of a message" : "";
    return new SwankError("CONNECTION_LOST", `${this.description} closed the connection${where}.`);
  }

  /** Adds what was sent last: a server closes the connection on a message that it cannot digest. */
  #explain(error: unknown): SwankError {
    const { code, message, remedy, details, cause } = asSwankError(error);
    return new SwankError(code, message, { remedy, cause, details: { ...details, lastSent: this.#sent.messages } });
  }
}

function closedHere(): SwankError {
  return new SwankError("CONNECTION_CLOSED", "This side closed the connection.");
}
