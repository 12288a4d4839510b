import { NIL, type Sexp } from "sexp-parser";
import { asSwankError, CallSite, SwankError } from "../base/errors.js";
import { catchRejection, TypedEmitter, type UnhandledListenerError } from "../base/events.js";
import { type Check, check, checkOptions, type EventNames, type OptionsOf } from "../base/options.js";
import { within } from "../base/waiting.js";
import { encodeFrame, FrameDecoder, SentFrames } from "./frames.js";
import { type DebugMessage, type Reply, readMessage, type SwankMessage } from "./messages.js";
import { checkRequestOptions, PendingRequests, type RequestFailure, type RequestOptions } from "./pending.js";
import {
  type ClientMessage,
  defaultReply,
  MOST_UNREAD_ANSWERS,
  NO_THREAD,
  printMessage,
  type ReplyPolicy,
} from "./sent.js";
import type { NetworkPeer, Transport, TransportFactory } from "./transport.js";

const heartbeatOptions = {
  /** Milliseconds of silence after which a heartbeat is sent. Default 15000. */
  interval: check.milliseconds,
  /** Intervals of silence after which the connection is abandoned. Default 8, which is 2 minutes. */
  patience: check.number("a number of intervals", (count) => count > 0),
};

/** How to detect that the other side has stopped answering on an open connection. */
export interface HeartbeatOptions extends OptionsOf<typeof heartbeatOptions> {}

const checkBytes = check.number("a number of bytes", (bytes) => bytes >= 0);

/** `false` in place of options. */
const checkNone: Check<false> = (name, value) => {
  if (value === false) return value;
  throw new SwankError("INVALID_ARGUMENT", `${name} is false or an object.`);
};

export const connectionOptions = {
  /** The secret, sent first; see `readSecret`. */
  secret: check.text,
  /** The largest accepted message, in bytes. Default and maximum 16777215. */
  frameLimit: checkBytes,
  /** Bytes that may wait to be sent before requests are refused. Default 64 MiB. */
  backlogLimit: checkBytes,
  /** Default timeout in milliseconds for a request to a numbered thread. Default 30000. */
  threadTimeout: check.milliseconds,
  /**
   * Milliseconds that `close()` waits for the other side to close. Default 1000. In the first half of this time it waits for the server to pass on
   * requests that are not answered yet; Swank does so at once.
   */
  linger: check.milliseconds,
  /** How to detect that the image has stopped answering; `false` disables the check. */
  heartbeat: check.either(checkNone, check.options(heartbeatOptions)),
  /** Answers questions of Lisp threads instead of the default answers. */
  replyPolicy: check.function<ReplyPolicy>(),
  /** Receives errors of listeners and of the reply policy. By default they become process warnings. */
  onListenerError: check.function<UnhandledListenerError>(),
};

/** Options of a connection. */
export interface ConnectionOptions extends OptionsOf<typeof connectionOptions> {}

const DEFAULTS = { backlogLimit: 64 * 1024 * 1024, threadTimeout: 30_000, linger: 1000 } as const;

/** Events of a connection. */
export interface ConnectionEvents {
  /** Every received message, in order, including replies. It is emitted after waiting threads are answered and requests settled. */
  event: SwankMessage;
  /** A reply that no request waits for, for example after its timeout. It is emitted before its `event`. */
  unclaimed: SwankMessage;
  /** A thread has entered the debugger. It comes before its `event`. */
  debug: DebugMessage;
  /** The image has stopped answering heartbeats (`false`), or answers again (`true`). */
  answering: boolean;
  /** The connection has ended; the payload is the reason. This is the last event. */
  closed: SwankError;
}

const CONNECTION_EVENTS: EventNames<ConnectionEvents> = {
  event: true,
  unclaimed: true,
  debug: true,
  answering: true,
  closed: true,
};

/** Milliseconds for which a server that hangs is left the chance to write its replies. */
const LONG_LINGER = 600_000;

/** Milliseconds that a server has to show that it has read all requests. */
const FAREWELL_TIME = 500;

/** A heartbeat's actions on its connection. */
interface HeartbeatActions {
  /** A count that grows whenever something comes. */
  received(): number;
  /** Sends a heartbeat, once per silence. */
  probe(): void;
  /** The sign of life is overdue. */
  onOverdue(): void;
  /** The other side has been silent for that many milliseconds. */
  giveUp(silence: number): void;
}

const HEARTBEAT_DEFAULTS = { interval: 15_000, patience: 8 } as const;

/**
 * Watches for silence. Any received data counts as a sign of life, so that no heartbeat is sent on a busy connection.
 *
 * Counts intervals instead of time: after this process was suspended, waiting data is read before the next interval ends.
 */
class Heartbeat {
  readonly #interval: number;
  readonly #patience: number;
  readonly #actions: HeartbeatActions;
  readonly #timer: NodeJS.Timeout;
  /** Whole intervals without a byte; -1 in the first one. */
  #silent = -1;
  /** What `received` gave at the end of the last interval. */
  #received = 0;

  constructor(
    { interval = HEARTBEAT_DEFAULTS.interval, patience = HEARTBEAT_DEFAULTS.patience }: HeartbeatOptions,
    actions: HeartbeatActions,
  ) {
    this.#interval = interval;
    this.#patience = patience;
    this.#actions = actions;
    // The connection keeps the process alive; the timer must not.
    this.#timer = setInterval(() => this.#beat(), interval).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    const received = this.#actions.received();
    this.#silent = received === this.#received ? this.#silent + 1 : 0;
    this.#received = received;
    if (this.#silent === 1) this.#actions.probe();
    if (this.#silent === 2) this.#actions.onOverdue();
    if (this.#silent >= this.#patience) this.#actions.giveUp(this.#silent * this.#interval);
  }
}

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
  /** Destroys the stream if the other side does not close it. */
  #destroying: NodeJS.Timeout | undefined;
  /** The last request, whose refusal ends the stream. */
  #farewell: number | undefined;
  /** Ends the stream if that refusal does not come. */
  #ending: NodeJS.Timeout | undefined;
  readonly #heartbeat: Heartbeat | undefined;
  #chunksReceived = 0;
  #isAnswering = true;
  #print = printMessage;

  constructor(factory: TransportFactory, options: ConnectionOptions = {}) {
    checkOptions("Connection", options, connectionOptions);
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

  /** Sends messages as `print` prints them from now on: servers that come from Swank have other names. */
  speak(print: (message: ClientMessage) => string): void {
    this.#print = print;
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

  /** Ends the wait for a reply with an error. The request continues in the image. */
  endWait(id: number, failure: RequestFailure): void {
    this.#pending.fail(id, failure);
  }

  #ask(form: Sexp, options: RequestOptions, origin: CallSite): Promise<Reply> {
    const { label, signal, thread = "t" } = options;
    checkRequestOptions(options);
    this.#checkReady(label, signal, origin);
    const id = this.#claimId(options);
    const frame = encodeFrame(this.#print({ type: "emacs-rex", form, package: options.package, thread, id }));
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
    this.#transmit(encodeFrame(this.#print(message)));
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
    this.#takeLeave(reason, this.#linger);
    await this.closed;
  }

  /**
   * The same for a server that may hang. The rest of what it sends is read in the background, for ten minutes, as long as the process lives: when it
   * goes on and cannot write its replies, Swank stops for good, for all its clients.
   *
   * @returns after as long as {@link close} waits at most
   */
  async leave(): Promise<void> {
    this.#takeLeave(closedHere(), LONG_LINGER);
    await within(this.closed, { timeout: this.#linger });
    this.#transport.unref?.();
    this.#destroying?.unref();
  }

  get #linger(): number {
    return this.#options.linger ?? DEFAULTS.linger;
  }

  #takeLeave(reason: SwankError, linger: number): void {
    if (!this.isOpen) return;
    const areAnswered = this.#pending.areAnswered;
    this.#end(reason);
    this.#destroying = setTimeout(() => this.#transport.destroy(), linger);
    if (areAnswered) this.#transport.end();
    else this.#sayFarewell();
  }

  /**
   * Ends the stream when Swank has given every request to a thread. At the end of a stream it ends the thread that does so, wherever that is
   * (swank.lisp, `cleanup-connection-threads`): a thread that it had made for a request, but not given it, would wait for ever.
   */
  #sayFarewell(): void {
    const id = this.nextId();
    this.#farewell = id;
    this.#ending = setTimeout(() => this.#transport.end(), Math.min(this.#linger / 2, FAREWELL_TIME));
    this.#transmit(
      encodeFrame(this.#print({ type: "emacs-rex", form: NIL, package: undefined, thread: NO_THREAD, id })),
    );
  }

  #onFarewell(message: SwankMessage): void {
    const isReply = message.type === "invalid-rpc" || message.type === "return";
    if (!isReply || message.id !== this.#farewell) return;
    clearTimeout(this.#ending);
    this.#transport.end();
  }

  /** Closes the connection at once, without waiting for the other side; otherwise like {@link close}. */
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
    // After close() the remaining data is read so that the other side can finish writing.
    if (!this.isOpen && this.#farewell === undefined) return;
    this.#chunksReceived += 1;
    if (!this.#isAnswering) this.#changeAnswering(true);
    try {
      this.#decoder.push(chunk);
    } catch (error) {
      this.#abandon(error);
    }
  }

  #onPayload(payload: string): void {
    const message = readMessage(payload);
    if (!this.isOpen) {
      this.#onFarewell(message);
      return;
    }
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
    clearTimeout(this.#destroying);
    clearTimeout(this.#ending);
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
