import type { Readable } from "node:stream";
import {
  type JSONRPCMessage,
  type MessageExtraInfo,
  PROTOCOL_VERSION_META_KEY,
  type Server,
  type Transport,
  type TransportSendOptions,
} from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { OutputQueue } from "../base/lifetime.js";
import type { ToolServer } from "../tools/tool-server.js";
import { fromClient, toClient } from "./question-ids.js";
import {
  cancelledId,
  INVALID_PARAMS,
  INVALID_REQUEST,
  invalidRequest,
  isId,
  isRequest,
  isResponse,
  LISTEN,
  type Message,
  type MessageId,
  type Response,
} from "./sent-message.js";
import {
  type ClientEvents,
  clearError,
  connectionOf,
  createServer,
  hidden,
  ID_IN_USE,
  MAX_SUBSCRIPTIONS,
  type Request,
  type RequestError,
  serveLegacy,
  serveModern,
} from "./server.js";
import { StdioLines } from "./stdio-lines.js";

/** The streams of a connection, whose messages are one on each line. */
export interface McpStreams {
  readonly input: Readable;
  readonly output: OutputQueue;
  /** Maximum size of a line in bytes. A longer line is refused, and reading continues after it. */
  readonly maxLine: number;
}

interface WireEvents {
  onClose(): void;
  /** An invalid message has come in, or a message could not be sent. */
  onError(error: Error): void;
  /** A line has come in that is not JSON, which suggests that a person types the input. */
  onNotJson?(): void;
  /** The input has ended or failed. Running calls go on. */
  onEnd?(error?: Error): void;
  onListen?(): void;
}

/** Bytes of unread answers with which reading stops. */
const MAX_UNREAD = 4 * 1024 * 1024;

/** The requests in both directions that have no answer yet. */
class OpenRequests {
  readonly #served = new Set<MessageId>();
  readonly #asked = new Set<MessageId>();
  #onIdle: () => void = () => {};

  /** Notes a message of the client. => false for a request whose id is that of an open request */
  received(message: Message): boolean {
    if (isRequest(message)) {
      if (this.#served.has(message.id)) return false;
      // It is answered only when the connection ends, so that nothing waits for its answer.
      if (message.method !== LISTEN) this.#served.add(message.id);
    } else if (isResponse(message)) this.#answered(message.id);
    else this.#end(cancelledId(message));
    return true;
  }

  sent(message: Message): void {
    if (isRequest(message)) this.#asked.add(message.id);
    else if (isResponse(message)) this.#end(message.id);
    else this.#answered(cancelledId(message));
  }

  get asked(): readonly MessageId[] {
    return [...this.#asked];
  }

  /** Resolves when every request of the client has been answered or cancelled. The client may not have read the answers yet. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#served.size === 0) resolve();
    });
  }

  #end(id: unknown): void {
    if (isId(id)) this.#served.delete(id);
    if (this.#served.size === 0) this.#onIdle();
  }

  /** Some clients return a numeric id as a string. */
  #answered(answered: unknown): void {
    for (const id of this.#asked) if (String(id) === String(answered)) this.#asked.delete(id);
  }
}

/**
 * The SDK's transport on standard streams, between streams that keep what it loses.
 *
 * - It hides a call's name and arguments from the SDK (`hidden`).
 * - A line that is not a message is answered with an error, and a request with the id of an open request is refused.
 * - The end of the input ends nothing. Requests of the server that the client has not answered then fail.
 * - Nothing is read while the client does not read its answers.
 */
class CallWire implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: Transport["onclose"];
  onerror?: Transport["onerror"];
  readonly open = new OpenRequests();
  readonly lines: StdioLines;
  readonly #streams: McpStreams;
  readonly #transport: Transport;
  readonly #events: WireEvents;
  #isLegacy = false;
  /** How far the end of the input has come: lines before it may wait to be read by the SDK. */
  #end: "none" | "read" | "reported" = "none";

  constructor(streams: McpStreams, events: WireEvents) {
    this.#streams = streams;
    this.#events = events;
    this.lines = new StdioLines(streams.maxLine, {
      onBad: (answer) => this.#write(answer),
      onNotJson: () => events.onNotJson?.(),
      onError: (error) => events.onError(error),
      onEnd: () => this.#inputEnded(),
      mustWait: () => this.#mustWait,
    });
    this.#transport = new StdioServerTransport(this.lines, streams.output, { maxBufferSize: Number.POSITIVE_INFINITY });
  }

  async start(): Promise<void> {
    const transport = this.#transport;
    transport.onmessage = (message: JSONRPCMessage, extra?: MessageExtraInfo) => this.#take(fromClient(message), extra);
    transport.onclose = () => {
      this.onclose?.();
      this.#events.onClose();
    };
    // Errors are reported only here: the SDK would report each twice.
    transport.onerror = (error) => {
      this.#events.onError(error);
      this.#regulate();
    };
    await transport.start();
    const { input } = this.#streams;
    input.once("close", () => this.#inputEnded());
    // This listener is never removed: a failure after the end must not become an uncaught exception.
    input.on("error", (error) => this.#inputEnded(error));
    input.pipe(this.lines);
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const sent = "error" in message ? { ...message, error: clearError(message.error) } : message;
    this.open.sent(sent);
    // The SDK registers its request only after this call.
    if (this.#end === "reported" && isRequest(message)) setImmediate(() => this.#failRequest(message.id));
    try {
      await this.#transport.send(toClient(sent), options);
    } finally {
      this.#regulate();
    }
  }

  close(): Promise<void> {
    this.#streams.input.unpipe(this.lines);
    return this.#transport.close();
  }

  #take(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    if (!this.open.received(message)) {
      if (isRequest(message)) this.#write(invalidRequest(message.id, ID_IN_USE));
    } else if (!isRequest(message)) this.onmessage?.(message, extra);
    else if (message.method === "tools/call") this.onmessage?.(hidden(message), extra);
    else {
      // A client that has begun with `initialize` is told that there is no such method.
      this.#isLegacy ||= message.method === "initialize";
      if (message.method === LISTEN) this.#events.onListen?.();
      const error = this.#isLegacy ? undefined : discoveryError(message, PROTOCOL_VERSION_META_KEY);
      if (error === undefined) this.onmessage?.(message, extra);
      else this.send({ jsonrpc: "2.0", id: message.id, error }).catch(this.#events.onError);
    }
    this.#regulate();
  }

  /** Writes an answer of its own. An open request with the same id stays open. */
  #write(answer: Response): void {
    this.#streams.output.write(`${JSON.stringify(answer)}\n`, () => this.#regulate());
    this.#regulate();
  }

  get #mustWait(): boolean {
    return this.#streams.output.waiting >= MAX_UNREAD;
  }

  /** Stops and resumes reading, and reports the end of the input. */
  #regulate(): void {
    if (this.#mustWait) this.lines.pause();
    else {
      if (this.lines.isPaused()) this.lines.resume();
      this.lines.proceed();
    }
    if (this.#end === "read" && this.lines.readableLength === 0 && this.lines.writableLength === 0) this.#reportEnd();
  }

  #inputEnded(error?: Error): void {
    if (this.#end !== "none") return;
    this.#end = "read";
    if (error === undefined) this.#regulate();
    else this.#reportEnd(error);
  }

  #reportEnd(error?: Error): void {
    this.#end = "reported";
    for (const id of this.open.asked) this.#failRequest(id);
    this.#events.onEnd?.(error);
  }

  #failRequest(id: MessageId): void {
    const error = { code: INVALID_REQUEST, message: "the client closed its input, so it cannot answer" };
    this.onmessage?.({ jsonrpc: "2.0", id, error });
  }
}

/** Why a `server/discover` that names no protocol revision is refused; the SDK would say that there is no such method. */
function discoveryError({ method, params }: Request, revisionKey: string): RequestError | undefined {
  if (method !== "server/discover") return undefined;
  const meta = params !== undefined && "_meta" in params ? params._meta : undefined;
  if (typeof meta === "object" && meta !== null && revisionKey in meta) return undefined;
  const problem = `server/discover needs the key "${revisionKey}" in params._meta`;
  return {
    code: INVALID_PARAMS,
    message: `Invalid params: ${problem}. Clients of revisions up to 2025-11-25 begin with initialize.`,
  };
}

/** A server that speaks MCP over one connection. */
export interface McpEndpoint {
  /** Whether messages wait to be read, because the client does not read its answers. */
  readonly isHolding: boolean;
  /** Whether a JSON-RPC message has been received. */
  readonly hasMessage: boolean;
  /** Resolves when every received request has been answered or cancelled. The client may not have read the answers yet. */
  idle(): Promise<void>;
  /** Stops listening and cancels running calls. */
  close(): Promise<void>;
}

export interface McpEvents extends WireEvents, ClientEvents {}

/** Serves the tools on a pair of streams, in the protocol revision that the client chooses. */
export function serveMcp(tools: ToolServer, streams: McpStreams, events: McpEvents): McpEndpoint {
  const connection = connectionOf(tools, events);
  const onClose = () => {
    connection.close();
    events.onClose();
  };
  const { onError } = events;
  let pinned: Server | undefined;
  // The SDK passes each update on to the subscriptions that want it.
  const onListen = () => {
    connection.resources.watch((uri) => pinned?.sendResourceUpdated({ uri }).catch(onError));
    connection.lists.watch(() => pinned?.sendToolListChanged().catch(onError));
  };
  const wire = new CallWire(streams, { ...events, onClose, onListen });
  const handle = serveStdio(
    ({ era }) => {
      const server = createServer(tools);
      pinned = server;
      server.onerror = (error) => onError(error);
      (era === "modern" ? serveModern : serveLegacy)(server, connection);
      return server;
    },
    {
      transport: wire,
      onerror: (error) => onError(error),
      maxSubscriptions: MAX_SUBSCRIPTIONS,
    },
  );
  return {
    get isHolding() {
      return wire.lines.readableLength > 0;
    },
    get hasMessage() {
      return wire.lines.hasMessage;
    },
    idle: () => wire.open.idle(),
    close: () => handle.close(),
  };
}
