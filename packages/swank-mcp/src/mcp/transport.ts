import type { Readable } from "node:stream";
import type { OutputQueue } from "../base/lifetime.js";
import { shown } from "../text/cut.js";

/** Maximum size of a kept string and of an outline, in bytes. */
const MAX_STRING = 200;

const MAX_OUTLINE = 4000;

const QUOTE = 0x22;

const BACKSLASH = 0x5c;

const NULL = Buffer.from("null");

const OPENING: ReadonlySet<number> = new Set(Buffer.from("{["));

const CLOSING: ReadonlySet<number> = new Set(Buffer.from("}]"));

/**
 * Reduces a JSON object of any size to its own keys and short values. Nested values and long strings become `null`.
 *
 * Finds the id of a message that is too long to keep, wherever the id is in the message.
 */
class MessageOutline {
  readonly #kept: number[] = [];
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  /** Index in the kept bytes at which the current string begins. */
  #stringStart = 0;

  /** Adds the next bytes of the message. */
  push(bytes: Buffer): void {
    for (let index = 0; index < bytes.length; index += 1) {
      if (this.#inString && !this.#keepsString) index = this.#skipPlain(bytes, index);
      const byte = bytes[index];
      if (byte === undefined) return;
      if (this.#inString) this.#takeInString(byte);
      else this.#take(byte);
    }
  }

  /** Returns the object, or `undefined` if the message is not an object or has too many keys. */
  read(): unknown {
    if (this.#kept.length >= MAX_OUTLINE) return undefined;
    try {
      return JSON.parse(Buffer.from(this.#kept).toString());
    } catch {
      return undefined;
    }
  }

  /** Skips a string that is not kept, because such strings fill most of a long message. => index of its closing quote or of the end */
  #skipPlain(bytes: Buffer, start: number): number {
    let index = this.#isEscaped ? start + 1 : start;
    while (index < bytes.length && bytes[index] !== QUOTE) index += bytes[index] === BACKSLASH ? 2 : 1;
    this.#isEscaped = index > bytes.length;
    return index;
  }

  #take(byte: number): void {
    if (OPENING.has(byte)) this.#open(byte);
    else if (CLOSING.has(byte)) this.#close(byte);
    else {
      if (byte === QUOTE) this.#enterString();
      this.#keep(byte);
    }
  }

  #open(byte: number): void {
    if (this.#depth === 0) this.#keep(byte);
    else if (this.#depth === 1) for (const kept of NULL) this.#keep(kept);
    this.#depth += 1;
  }

  #close(byte: number): void {
    this.#depth -= 1;
    if (this.#depth === 0) this.#keep(byte);
  }

  #enterString(): void {
    this.#inString = true;
    this.#stringStart = this.#kept.length;
  }

  #takeInString(byte: number): void {
    const isEnd = byte === QUOTE && !this.#isEscaped;
    this.#isEscaped = byte === BACKSLASH && !this.#isEscaped;
    this.#inString = !isEnd;
    this.#keep(byte);
    if (isEnd && this.#depth <= 1 && this.#kept.length - this.#stringStart > MAX_STRING) this.#shorten();
  }

  /** Replaces a long string by `null`: a truncated id would be a different id. */
  #shorten(): void {
    this.#kept.splice(this.#stringStart, Number.POSITIVE_INFINITY, ...NULL);
  }

  #keep(byte: number): void {
    if (this.#depth > 1 || this.#kept.length >= MAX_OUTLINE) return;
    if (!this.#inString || this.#keepsString) this.#kept.push(byte);
  }

  get #keepsString(): boolean {
    return this.#depth <= 1 && this.#kept.length - this.#stringStart <= MAX_STRING;
  }
}

const NEWLINE = 0x0a;

/** One line of the input, without its line feed. */
type Line =
  | { readonly kind: "line"; readonly bytes: Buffer }
  /** A line above the maximum size, without its text. */
  | { readonly kind: "too-long"; readonly size: number; readonly outline: MessageOutline };

/** Splits a stream of bytes into lines. Each byte is copied at most once, even if a line has many chunks. */
class LineSplitter {
  readonly #maxSize: number;
  #parts: Buffer[] = [];
  #size = 0;
  /** Set once the current line exceeds the maximum. */
  #outline: MessageOutline | undefined;

  /** @param maxSize - Maximum size of a line that keeps its text, in bytes. */
  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  /** Yields the lines that end in this chunk. */
  *push(chunk: Buffer): Generator<Line> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#add(chunk.subarray(start, end));
      yield this.#finish();
      start = end + 1;
    }
    if (start < chunk.length) this.#add(chunk.subarray(start));
  }

  /** Returns the last line if the stream ends without a line feed. */
  end(): Line | undefined {
    return this.#size === 0 ? undefined : this.#finish();
  }

  #add(part: Buffer): void {
    this.#size += part.length;
    if (this.#outline === undefined && this.#size > this.#maxSize) this.#dropText();
    if (this.#outline === undefined) this.#parts.push(part);
    else this.#outline.push(part);
  }

  #dropText(): void {
    this.#outline = new MessageOutline();
    for (const part of this.#parts) this.#outline.push(part);
    this.#parts = [];
  }

  #finish(): Line {
    const line: Line =
      this.#outline === undefined
        ? { kind: "line", bytes: this.#parts.length === 1 ? (this.#parts[0] ?? EMPTY) : Buffer.concat(this.#parts) }
        : { kind: "too-long", size: this.#size, outline: this.#outline };
    this.#parts = [];
    this.#size = 0;
    this.#outline = undefined;
    return line;
  }
}

const EMPTY = Buffer.alloc(0);

/** An id that JSON-RPC and MCP allow. */
export type MessageId = string | number;

export function isId(value: unknown): value is MessageId {
  return typeof value === "string" || Number.isSafeInteger(value);
}

export interface Request {
  readonly jsonrpc: "2.0";
  readonly id: MessageId;
  readonly method: string;
  readonly params?: object | undefined;
}

export interface Notification {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params?: object | undefined;
}

/** The answer to a request, with either a result or an error. */
export interface Response {
  readonly jsonrpc: "2.0";
  readonly id?: MessageId | null | undefined;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Any message that a line can contain. */
export type Message = Request | Notification | Response;

/** JSON-RPC's error codes for lines that cannot be served. */
const PARSE_ERROR = -32700;

const INVALID_REQUEST = -32600;

export const INVALID_PARAMS = -32602;

/** JSON-RPC's error code for a method that the receiver does not have. */
export const METHOD_NOT_FOUND = -32601;

/** JSON-RPC's error code for a defect of the server. */
export const INTERNAL_ERROR = -32603;

/** Returns the answer to a line that is not a message, or to a request that cannot be served. */
export function errorResponse(id: MessageId | null, code: number, message: string): Response {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

function isRequest(message: Message): message is Request {
  return "method" in message && "id" in message;
}

/** Whether the message answers a request. */
function isResponse(message: Message): message is Response {
  return !("method" in message);
}

/** Returns the id of the request that a notification cancels; `undefined` for any other message. */
export function cancelledId(message: Message): unknown {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
  return message.params !== undefined && "requestId" in message.params ? message.params.requestId : undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** The parameters of a message, or the problem with them. */
type SentParams = { readonly params: Fields | undefined } | { readonly problem: string };

/** The key of the arguments of a call, which the tools read. */
const ARGUMENTS = "arguments";

/** The last part of the keys under which clients name what they can do: at `initialize`, or in every request's `_meta`. */
const CAPABILITIES = /(?:^|\/)(?:capabilities|clientCapabilities)$/;

/**
 * Reads the parameters of a request or notification as hosts send them: `null` for what is left out, `[]` for an empty object, all parameters as
 * a JSON text, a capability as `true` or `false`. The arguments of a call stay as they are.
 */
function readParams(given: unknown): SentParams {
  const params = objectIn(given);
  if (params === undefined) return { params };
  if (!isFields(params)) return { problem: '"params" must be an object' };
  const { _meta: sentMeta, ...rest } = params;
  const meta = objectIn(sentMeta);
  if (meta !== undefined && !isFields(meta)) return { problem: '"_meta" must be an object' };
  const token = meta?.["progressToken"] ?? undefined;
  if (token !== undefined && !isId(token)) return { problem: '"progressToken" must be a string or a whole number' };
  return { params: withoutNulls(meta === undefined ? rest : { ...rest, _meta: meta }) };
}

/** Levels of objects in which `null` is looked for. */
const DEPTH = 8;

/** The object without what is `null`, in it and in the objects in it. */
function withoutNulls(fields: Fields, depth = DEPTH): Fields {
  const kept: [string, unknown][] = [];
  for (const [key, value] of Object.entries(fields)) {
    if (key === ARGUMENTS) kept.push([key, value]);
    else if (CAPABILITIES.test(key)) kept.push([key, readCapabilities(value)]);
    else if (value !== null) kept.push([key, isFields(value) && depth > 0 ? withoutNulls(value, depth - 1) : value]);
  }
  return Object.fromEntries(kept);
}

function readCapabilities(given: unknown): unknown {
  const capabilities = given === null || isEmptyList(given) ? {} : given;
  if (!isFields(capabilities)) return capabilities;
  const kept = Object.entries(capabilities).filter(([, value]) => value !== null && value !== false);
  return Object.fromEntries(kept.map(([key, value]) => [key, readCapability(value)]));
}

function readCapability(value: unknown): unknown {
  if (value === true || isEmptyList(value)) return {};
  return isFields(value) ? withoutNulls(value) : value;
}

/** The object that was sent, whole or as a JSON text; `undefined` if there is none; anything else unchanged. */
function objectIn(given: unknown): unknown {
  if (given === null || given === undefined || given === "" || isEmptyList(given)) return undefined;
  if (typeof given !== "string") return given;
  try {
    const value: unknown = JSON.parse(given);
    return value === null ? undefined : value;
  } catch {
    return given;
  }
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The content of a line: a message, nothing, an invalid message with its error answer, or a stray answer. */
type LineContent =
  | { readonly kind: "message"; readonly message: Message }
  | { readonly kind: "blank" }
  | { readonly kind: "bad"; readonly answer: Response; readonly isJson: boolean }
  /** An answer without a request, which can only be logged. */
  | { readonly kind: "stray"; readonly error: Error };

const ONE_OBJECT = "Send one JSON-RPC 2.0 object on a line";

/**
 * Reads a line as a JSON-RPC message.
 *
 * @param maxSize - Maximum size of a line in bytes, for the error about a longer line.
 */
function readLine(line: Line, maxSize: number): LineContent {
  if (line.kind === "too-long") return tooLong(line.outline.read(), line.size, maxSize);
  const text = line.bytes.toString();
  if (text.trim() === "") return { kind: "blank" };
  try {
    return readMessage(JSON.parse(text));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const answer = errorResponse(null, PARSE_ERROR, `Parse error: the line is not JSON (${why}). ${ONE_OBJECT}.`);
    return { kind: "bad", answer, isJson: false };
  }
}

function tooLong(outline: unknown, size: number, maxSize: number): LineContent {
  const id = isFields(outline) ? answerableId(outline) : null;
  const what = `Invalid request: the message has ${size} bytes; the limit is ${maxSize}.`;
  return bad(id, INVALID_REQUEST, `${what} Put large code or data into a file, and send code that loads it.`);
}

function readMessage(sent: unknown): LineContent {
  const value = isFields(sent) ? withoutNullParts(sent) : sent;
  if (Array.isArray(value))
    return bad(null, INVALID_REQUEST, `Invalid request: batches are not supported. ${ONE_OBJECT}.`);
  if (!isFields(value)) return bad(null, INVALID_REQUEST, `Invalid request: not an object. ${ONE_OBJECT}.`);
  const id = answerableId(value);
  if (value["jsonrpc"] !== "2.0") return bad(id, INVALID_REQUEST, 'Invalid request: "jsonrpc" must be "2.0".');
  return "method" in value ? readCall(value, id) : readResponse(value, id);
}

function readCall(value: Fields, id: MessageId | null): LineContent {
  const { method } = value;
  if (typeof method !== "string") return bad(id, INVALID_REQUEST, 'Invalid request: "method" must be a string.');
  // A notification has no id, which some hosts write as null.
  if ("id" in value && id === null && !(value["id"] === null && method.startsWith("notifications/")))
    return bad(null, INVALID_REQUEST, 'Invalid request: "id" must be a string or a whole number.');
  const read = readParams(value["params"]);
  if ("problem" in read) return bad(id, INVALID_PARAMS, `Invalid params: ${read.problem}.`);
  const given = read.params === undefined ? {} : { params: read.params };
  return { kind: "message", message: { jsonrpc: "2.0", ...(id === null ? {} : { id }), method, ...given } };
}

/** Some hosts send all parts that a message can have, with `null` for those that it lacks. */
function withoutNullParts(value: Fields): Fields {
  const { method, error, result, ...rest } = value;
  const isCall = typeof method === "string";
  const isAnswer = !isCall && "id" in value;
  return {
    ...rest,
    ...(method === null || method === undefined ? {} : { method }),
    ...(error === undefined || (error === null && (isCall || "result" in value)) ? {} : { error }),
    ...(result === undefined || (result === null && (isCall || (isAnswer && isFields(error)))) ? {} : { result }),
  };
}

/** Reads an answer. A malformed one becomes an error, so that its request still ends. */
function readResponse(value: Fields, id: MessageId | null): LineContent {
  const { id: answered, result, error } = value;
  if (!("result" in value || "error" in value))
    return bad(id, INVALID_REQUEST, "Invalid request: neither a request nor a response.");
  if (!isId(answered)) return { kind: "stray", error: new Error(`received a response without an id: ${shown(value)}`) };
  if (isFields(result))
    return { kind: "message", message: { jsonrpc: "2.0", id: answered, result: withoutNulls(result) } };
  return { kind: "message", message: errorResponse(answered, ...errorParts(error)) };
}

function errorParts(error: unknown): [code: number, message: string] {
  const { code, message } = isFields(error) ? error : {};
  return [
    typeof code === "number" && Number.isInteger(code) ? code : INVALID_REQUEST,
    typeof message === "string" ? message : "the answer was malformed",
  ];
}

function bad(id: MessageId | null, code: number, message: string): LineContent {
  return { kind: "bad", answer: errorResponse(id, code, message), isJson: true };
}

/** Returns the id for an error about this object. An answer's id is not used, because it refers to the server's own request. */
function answerableId(value: Fields): MessageId | null {
  if ("result" in value || "error" in value) return null;
  return isId(value["id"]) ? value["id"] : null;
}

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
