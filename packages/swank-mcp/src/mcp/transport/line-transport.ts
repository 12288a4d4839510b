import type { Readable } from "node:stream";
import type { OutputQueue } from "../../process/output-queue.js";
import { shown } from "../../text/shown.js";
import { type Line, LineSplitter } from "./line-splitter.js";
import {
  cancelledId,
  errorResponse,
  INVALID_PARAMS,
  INVALID_REQUEST,
  isId,
  isRequest,
  isResponse,
  type Message,
  type MessageId,
  type Request,
} from "./message.js";
import { type LineContent, readLine } from "./read-line.js";

export interface LineTransportOptions {
  readonly input: Readable;
  readonly output: OutputQueue;
  /** Maximum size of a line in bytes. A longer line is refused, and reading continues after it. */
  readonly maxLine: number;
  /** Whether the receiver's schemas accept a message. The receiver would drop any other message without an answer. */
  isKnown(message: Message): boolean;
  /** Whether a request goes ahead of waiting requests, even at the limit of concurrent requests. Default: no request does. */
  isUrgent?(request: Request): boolean;
  /** Called for a line that is not JSON, which suggests that a person types the input. */
  onNotJson?(): void;
  /** Called when the input has ended or failed. Waiting requests are still served. */
  onEnd(error?: Error): void;
}

/** Maximum size of unread answers, in bytes, before further requests wait. */
const MAX_UNREAD = 4 * 1024 * 1024;
/** Maximum number of concurrent requests. */
const MAX_SERVED = 256;
/** Maximum number of urgent requests beyond MAX_SERVED. */
const MAX_URGENT = 16;
/** Maximum size of waiting lines, in bytes, before reading stops. Each line counts LINE_COST bytes more than its length. */
const MAX_HELD = 1024 * 1024;
const LINE_COST = 200;

/** A request that is answered only when the connection ends, so it does not count as being served. */
const LASTING = "subscriptions/listen";

/** A line that waits to be served. */
interface Held {
  readonly cost: number;
  readonly id: MessageId | undefined;
  readonly isUrgent: boolean;
  serve(): void;
}

/**
 * Exchanges JSON-RPC messages over a pair of streams, one on each line. Has the shape of the MCP SDK's `Transport`.
 *
 * - A line that is not a message is answered with an error.
 * - Requests wait while the client does not read its answers or many requests are being served. If too many wait, reading stops.
 * - Urgent requests wait only while the client does not read or many urgent requests are being served.
 * - The client's answers and notifications never wait, because a request that is being served may need them.
 * - A request with the id of a request that is being served is refused.
 */
export class LineTransport {
  onmessage?: (message: Message) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #options: LineTransportOptions;
  readonly #splitter: LineSplitter;
  readonly #held: Held[] = [];
  #heldCost = 0;
  /** Ids of the client's requests that the receiver has not answered. */
  readonly #served = new Set<MessageId>();
  /** Ids of the server's requests that the client has not answered. */
  readonly #asked = new Set<MessageId>();
  #hasEnded = false;
  #hasMessage = false;
  #hasNonsense = false;
  #isClosed = false;
  #onIdle: () => void = () => {};

  constructor(options: LineTransportOptions) {
    this.#options = options;
    this.#splitter = new LineSplitter(options.maxLine);
  }

  async start(): Promise<void> {
    const { input } = this.#options;
    input.on("data", this.#onData);
    for (const event of ["end", "close"]) input.once(event, () => this.#onInputEnd());
    // This listener is never removed: a failure after the end must not become an uncaught exception.
    input.on("error", this.#onInputEnd);
  }

  /** Resolves when the message has been written to the system. */
  send(message: Message): Promise<void> {
    if (isResponse(message)) {
      if (isId(message.id)) this.#served.delete(message.id);
    } else if (isRequest(message)) this.#ask(message.id);
    else this.#isAnswered(cancelledId(message));
    return this.#write(message);
  }

  /** Whether requests wait to be served. */
  get isHolding(): boolean {
    return this.#held.length > 0;
  }

  /** Whether a JSON-RPC message has been received. */
  get hasMessage(): boolean {
    return this.#hasMessage;
  }

  /** Whether a line that is not JSON has been received. */
  get hasNonsense(): boolean {
    return this.#hasNonsense;
  }

  /** Serves all waiting requests, even if the client does not read the answers. */
  serveRest(): void {
    for (const held of this.#held.splice(0)) held.serve();
  }

  /** Resolves when every received request has been answered or cancelled. The client may not have read the answers yet. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      this.#serveHeld();
    });
  }

  /** Stops reading. Messages already sent are still written. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { input } = this.#options;
    input.off("data", this.#onData);
    input.pause();
    this.#held.length = 0;
    this.onclose?.();
  }

  readonly #onData = (chunk: Buffer): void => {
    for (const line of this.#splitter.push(chunk)) this.#take(line);
    this.#serveHeld();
  };

  readonly #onInputEnd = (error?: Error): void => {
    if (this.#hasEnded || this.#isClosed) return;
    this.#hasEnded = true;
    const rest = this.#splitter.end();
    if (rest !== undefined) this.#take(rest);
    this.#serveHeld();
    for (const id of this.#asked)
      this.#deliver(errorResponse(id, INVALID_REQUEST, "the client closed its input before it answered"));
    this.#options.onEnd(error);
  };

  #take(line: Line): void {
    const { maxLine, isKnown } = this.#options;
    const content = readLine(line, maxLine);
    if (content.kind === "message") this.#hasMessage = true;
    if (content.kind === "stray") this.onerror?.(content.error);
    else if (content.kind === "bad") this.#takeBad(content);
    else if (content.kind === "message" && !isKnown(content.message)) this.#takeUnknown(content.message);
    else if (content.kind === "message" && isRequest(content.message)) this.#holdRequest(content.message, line);
    else if (content.kind === "message") this.#takeAtOnce(content.message);
  }

  #holdRequest(request: Request, line: Line): void {
    const cost = LINE_COST + (line.kind === "line" ? line.bytes.length : 0);
    const isUrgent = this.#options.isUrgent?.(request) ?? false;
    this.#hold({ cost, id: request.id, isUrgent, serve: () => this.#serve(request) });
  }

  #serve(request: Request): void {
    const { id } = request;
    if (this.#served.has(id)) this.#answer(errorResponse(id, INVALID_REQUEST, ID_IN_USE));
    else {
      if (request.method !== LASTING) this.#served.add(id);
      this.#deliver(request);
    }
  }

  #takeBad({ answer, isJson }: LineContent & { readonly kind: "bad" }): void {
    if (!isJson) this.#noteNonsense();
    this.#holdAnswer(answer);
  }

  #noteNonsense(): void {
    this.#hasNonsense = true;
    this.#options.onNotJson?.();
  }

  #holdAnswer(answer: Message): void {
    this.#hold({ cost: LINE_COST, id: undefined, isUrgent: false, serve: () => this.#answer(answer) });
  }

  /** Reports a malformed answer of the client, and answers any other unknown message with an error. */
  #takeUnknown(message: Message): void {
    if (isResponse(message)) this.onerror?.(new Error(`received a malformed response: ${shown(message)}`));
    else this.#holdAnswer(errorResponse(isRequest(message) ? message.id : null, INVALID_PARAMS, UNKNOWN));
  }

  #takeAtOnce(message: Message): void {
    const cancelled = cancelledId(message);
    const index = this.#held.findIndex(({ id }) => id !== undefined && id === cancelled);
    if (index >= 0) {
      for (const { cost } of this.#held.splice(index, 1)) this.#heldCost -= cost;
      return;
    }
    // A cancelled request is not answered, so it no longer counts as being served.
    for (const id of this.#served) if (id === cancelled) this.#served.delete(id);
    if (isResponse(message) && !this.#isAnswered(message.id))
      this.onerror?.(new Error(`received a response that matches no request: ${shown(message)}`));
    else this.#deliver(message);
  }

  /** Removes an answered or cancelled request of the server. Some clients return its numeric id as a string. */
  #isAnswered(answered: unknown): boolean {
    const asked = [...this.#asked].find((id) => String(id) === answered || id === answered);
    return asked !== undefined && this.#asked.delete(asked);
  }

  #hold(held: Held): void {
    this.#held.push(held);
    this.#heldCost += held.cost;
  }

  #serveHeld(): void {
    for (let next = this.#nextHeld(); next !== undefined; next = this.#nextHeld()) {
      this.#heldCost -= next.cost;
      next.serve();
    }
    this.#regulateReading();
    if (this.#held.length === 0 && this.#served.size === 0) this.#onIdle();
  }

  /** Removes and returns the next line that can be served now, if there is one. */
  #nextHeld(): Held | undefined {
    const served = this.#served.size;
    if (this.#options.output.waiting >= MAX_UNREAD || served >= MAX_SERVED + MAX_URGENT) return undefined;
    if (served < MAX_SERVED) return this.#held.shift();
    const urgent = this.#held.findIndex(({ isUrgent }) => isUrgent);
    return urgent < 0 ? undefined : this.#held.splice(urgent, 1)[0];
  }

  #regulateReading(): void {
    const { input } = this.#options;
    if (this.#isClosed || this.#hasEnded) return;
    if (this.#heldCost >= MAX_HELD) input.pause();
    else if (input.isPaused()) input.resume();
  }

  #ask(id: MessageId): void {
    this.#asked.add(id);
    if (!this.#hasEnded) return;
    const gone = errorResponse(id, INVALID_REQUEST, "the client closed its input, so it cannot answer");
    // The sender registers its request only after this call.
    setImmediate(() => this.#deliver(gone));
  }

  /** Writes the transport's own answer. A request with the same id that is being served remains open. */
  #answer(answer: Message): void {
    this.#write(answer).catch((error: Error) => this.onerror?.(error));
  }

  async #write(message: Message): Promise<void> {
    try {
      await this.#options.output.write(`${JSON.stringify(message)}\n`);
    } finally {
      this.#serveHeld();
    }
  }

  /** Delivers a message. A receiver's error is reported, because the input stream must not throw it. */
  #deliver(message: Message): void {
    try {
      if (!this.#isClosed) this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

const UNKNOWN = 'Invalid params: the parts of "params" that every method has are malformed.';
const ID_IN_USE = "Invalid request: a request with this id is still in progress. Give every request its own id.";
