import type { Readable } from "node:stream";
import { shown } from "../format/shown.js";
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
import type { OutputQueue } from "./output-queue.js";
import { readLine } from "./read-line.js";

export interface LineTransportOptions {
  readonly input: Readable;
  readonly output: OutputQueue;
  /** Bytes of the longest line that is taken; a longer one is refused, and reading goes on after it. */
  readonly maxLine: number;
  /** Whether the receiver knows such a message: one that it does not know it would drop without an answer. */
  isKnown(message: Message): boolean;
  /** The input has ended, or failed; requests that wait are still served. */
  onEnd(error?: Error): void;
}

/** Bytes of answers that may wait for the client to read them before further requests are served. */
const MAX_UNREAD = 4 * 1024 * 1024;
/** Requests that are served at a time. */
const MAX_SERVED = 256;
/** Bytes of lines that may wait to be served before reading stops; what a line costs besides its own bytes. */
const MAX_HELD = 1024 * 1024;
const LINE_COST = 200;

/** A line that waits until it can be served. */
interface Held {
  readonly cost: number;
  readonly id: MessageId | undefined;
  serve(): void;
}

/**
 * One JSON-RPC message a line, over a pair of streams. Has the shape of the MCP SDK's `Transport`.
 *
 * Every line that is no message is answered with an error. While the client does not read, or many requests are being served, further
 * requests wait, and then reading stops; answers and notifications of the client go ahead of them, since requests may wait for those.
 */
export class LineTransport {
  onmessage?: (message: Message) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #options: LineTransportOptions;
  readonly #splitter: LineSplitter;
  readonly #held: Held[] = [];
  #heldCost = 0;
  /** Requests that the receiver has got and not answered. */
  readonly #served = new Set<MessageId>();
  /** Requests of this side that the client has not answered. */
  readonly #asked = new Set<MessageId>();
  #hasEnded = false;
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
    // Stays for good: a failure after the end must not become an uncaught exception.
    input.on("error", this.#onInputEnd);
  }

  /** Resolves when the system has taken the message. */
  async send(message: Message): Promise<void> {
    if (isResponse(message)) {
      if (isId(message.id)) this.#served.delete(message.id);
    } else if (isRequest(message)) this.#ask(message.id);
    else this.#isAnswered(cancelledId(message));
    try {
      await this.#options.output.write(`${JSON.stringify(message)}\n`);
    } finally {
      this.#serveHeld();
    }
  }

  /** Whether requests wait to be served. */
  get isHolding(): boolean {
    return this.#held.length > 0;
  }

  /** Serves every request that waits, whether its answer will be read or not. */
  serveRest(): void {
    for (const held of this.#held.splice(0)) held.serve();
  }

  /** Resolves when every request that came has been answered or cancelled. The answers may still wait for the client to read them. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      this.#serveHeld();
    });
  }

  /** Stops reading. What was sent is still written. */
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
      this.#deliver(errorResponse(id, INVALID_REQUEST, "the client ended its input before it answered"));
    this.#options.onEnd(error);
  };

  #take(line: Line): void {
    const { maxLine, isKnown } = this.#options;
    const content = readLine(line, maxLine);
    if (content.kind === "stray") this.onerror?.(content.error);
    else if (content.kind === "bad") this.#holdAnswer(content.answer);
    else if (content.kind === "message" && !isKnown(content.message)) this.#takeUnknown(content.message);
    else if (content.kind === "message" && isRequest(content.message)) this.#holdRequest(content.message, line);
    else if (content.kind === "message") this.#takeAtOnce(content.message);
  }

  #holdRequest(request: Request, line: Line): void {
    const serve = () => {
      this.#served.add(request.id);
      this.#deliver(request);
    };
    this.#hold({ cost: LINE_COST + (line.kind === "line" ? line.bytes.length : 0), id: request.id, serve });
  }

  #holdAnswer(answer: Message): void {
    this.#hold({ cost: LINE_COST, id: undefined, serve: () => this.#answer(answer) });
  }

  /** A malformed answer of the client is no request, so nothing can be answered to it. */
  #takeUnknown(message: Message): void {
    if (isResponse(message)) this.onerror?.(new Error(`a malformed answer came: ${shown(message)}`));
    else this.#holdAnswer(errorResponse(isRequest(message) ? message.id : null, INVALID_PARAMS, UNKNOWN));
  }

  #takeAtOnce(message: Message): void {
    const cancelled = cancelledId(message);
    const index = this.#held.findIndex(({ id }) => id !== undefined && id === cancelled);
    if (index >= 0) {
      for (const { cost } of this.#held.splice(index, 1)) this.#heldCost -= cost;
      return;
    }
    // A cancelled request gets no answer.
    for (const id of this.#served) if (id === cancelled) this.#served.delete(id);
    if (isResponse(message) && !this.#isAnswered(message.id))
      this.onerror?.(new Error(`an answer to no question came: ${shown(message)}`));
    else this.#deliver(message);
  }

  /** Notes that a request of this side needs no further answer. Some clients turn its number into a string. */
  #isAnswered(answered: unknown): boolean {
    const asked = [...this.#asked].find((id) => String(id) === answered || id === answered);
    return asked !== undefined && this.#asked.delete(asked);
  }

  #hold(held: Held): void {
    this.#held.push(held);
    this.#heldCost += held.cost;
  }

  #serveHeld(): void {
    while (!this.#isBlocked) {
      const next = this.#held.shift();
      if (next === undefined) break;
      this.#heldCost -= next.cost;
      next.serve();
    }
    this.#regulateReading();
    if (this.#held.length === 0 && this.#served.size === 0) this.#onIdle();
  }

  get #isBlocked(): boolean {
    return this.#options.output.waiting >= MAX_UNREAD || this.#served.size >= MAX_SERVED;
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
    const gone = errorResponse(id, INVALID_REQUEST, "the client ended its input, so it cannot answer");
    // The sender notes its request only after this call.
    setImmediate(() => this.#deliver(gone));
  }

  #answer(answer: Message): void {
    this.send(answer).catch((error: Error) => this.onerror?.(error));
  }

  /** An error of the receiver concerns this message only: the stream of the input must not throw it. */
  #deliver(message: Message): void {
    try {
      if (!this.#isClosed) this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

const UNKNOWN = 'Invalid params: the parts of "params" that every method has are malformed.';
