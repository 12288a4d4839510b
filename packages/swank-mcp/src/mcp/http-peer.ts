import type { IncomingMessage, ServerResponse } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  isInitializeRequest,
  isJsonContentType,
  isLegacyRequest,
  type JSONRPCMessage,
  type McpHttpHandler,
  type MessageExtraInfo,
  Server,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { ToolServer } from "../tools/tool-server.js";
import { askOutside } from "./elicitation.js";
import { fromClient, toClient } from "./question-ids.js";
import { cancelledId, INVALID_REQUEST, isId, isRequest, LISTEN, type Message, type MessageId } from "./sent-message.js";
import {
  type Connection,
  type ConnectionEvents,
  clearError,
  connectionOf,
  createServer,
  hidden,
  ID_IN_USE,
  MAX_SUBSCRIPTIONS,
  serveLegacy,
  serveModern,
} from "./server.js";

const MAX_BODY = 4 * 1024 * 1024;

/** How often a stream without messages sends a comment, in milliseconds: proxies close a connection that is silent for a minute. */
const KEEP_ALIVE = 15_000;

/** Code of errors of this transport, as the SDK uses it. */
export const TRANSPORT_ERROR = -32000;

export type HttpEvents = ConnectionEvents;

export interface HttpPeer {
  /**
   * Answers a request. The calls in it are cancelled when its signal is aborted, because the client has closed the connection.
   *
   * @param sent - The message in its body; `undefined` without one.
   */
  answer(request: Request, sent: Message | undefined): Promise<Response>;
  close(): Promise<void>;
}

/** Calls `fetch` with a request of Node's server, whose body it reads, and writes its response. Never rejects. */
export async function answerOnNode(
  fetch: (request: Request) => Promise<Response>,
  { req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse },
  onerror: (error: Error) => void,
): Promise<void> {
  const { method = "GET", url = "/", headers } = req;
  const request = { method, url, headers, [Symbol.asyncIterator]: () => req[Symbol.asyncIterator]() };
  await toNodeHandler({ fetch }, { onerror, maxRequestBodySize: MAX_BODY })(request, res);
}

/** Whether a request has a body that is declared as JSON. */
export function hasJson(request: Request): boolean {
  return isJsonContentType(request.headers.get("content-type"));
}

export function isCall(sent: Message | undefined): boolean {
  return sent !== undefined && isRequest(sent) && sent.method === "tools/call";
}

function isListen(sent: Message | undefined): boolean {
  return sent !== undefined && isRequest(sent) && sent.method === LISTEN;
}

/** How a request is served: as that of a client that names itself in each, of one that begins a session, or of one that has begun it. */
export async function kindOf(
  request: Request,
  sent: Message | undefined,
): Promise<"modern" | "initialize" | "session"> {
  if (!(await isLegacyRequest(request, sent))) return "modern";
  return isInitializeRequest(sent) ? "initialize" : "session";
}

/** Whether the client takes a stream of events as an answer. Any other gets the answer alone. */
function takesEvents({ headers }: Request): boolean {
  return headers.get("accept")?.includes("text/event-stream") === true;
}

/** An answer to a request that no server of the SDK has seen. @param sent - The message in its body, if there is one. */
export function refused(status: number, message: string, sent?: Message, code = TRANSPORT_ERROR): Response {
  const id = sent !== undefined && isRequest(sent) ? sent.id : null;
  const headers = status === 429 ? { "Retry-After": "5" } : {};
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id }, { status, headers });
}

/** A server whose calls have their names and arguments hidden from the SDK, and whose errors are clear. */
class HttpServer extends Server {
  override async connect(transport: Transport): Promise<void> {
    await super.connect(transport);
    const take = transport.onmessage?.bind(transport);
    transport.onmessage = (message: JSONRPCMessage, extra?: MessageExtraInfo) =>
      take?.(
        "id" in message && "method" in message && message.method === "tools/call" ? hidden(message) : message,
        extra,
      );
    const send = transport.send.bind(transport);
    transport.send = (message, options) =>
      send("error" in message ? { ...message, error: clearError(message.error) } : message, options);
  }
}

/** A client of protocol revision 2026-07-28, which has no session with the transport. */
export class ModernPeer implements HttpPeer {
  readonly #connection: Connection;
  /** Streams its answers, so that progress and comments keep the connection alive. */
  readonly #streaming: McpHttpHandler;
  readonly #whole: McpHttpHandler;

  constructor(tools: ToolServer, events: HttpEvents) {
    const connection = connectionOf(tools, events);
    const handler = (responseMode: "sse" | "auto", isQuiet: boolean) =>
      createMcpHandler(
        () => {
          const server = createServer(tools, HttpServer);
          server.onerror = (error) => events.onError(error);
          serveModern(server, { ...connection, isQuiet, isPerRequest: true });
          return server;
        },
        {
          legacy: "reject",
          responseMode,
          keepAliveMs: KEEP_ALIVE,
          maxSubscriptions: MAX_SUBSCRIPTIONS,
          onerror: (error) => events.onError(error),
        },
      );
    this.#connection = connection;
    this.#streaming = handler("sse", false);
    this.#whole = handler("auto", true);
  }

  answer(request: Request, sent: Message | undefined): Promise<Response> {
    if (isListen(sent)) this.#watch();
    const handler = takesEvents(request) && isCall(sent) ? this.#streaming : this.#whole;
    return handler.fetch(request, { parsedBody: sent });
  }

  #watch(): void {
    const { resources, lists } = this.#connection;
    resources.watch((uri) => this.#whole.notify.resourceUpdated(uri));
    lists.watch(() => this.#whole.notify.toolsChanged());
  }

  async close(): Promise<void> {
    this.#connection.close();
    await Promise.all([this.#streaming.close(), this.#whole.close()]);
  }
}

export interface SessionStart {
  readonly id: string;
  /** The request that begins it: one that takes no events shows a client that takes none. */
  readonly request: Request;
  onEnd(): void;
}

const CANCELLED = { code: TRANSPORT_ERROR, message: "The request was cancelled." };

/** A client of a protocol revision up to 2025-11-25, which has a session with the transport. */
export class SessionPeer implements HttpPeer {
  readonly #connection: Connection;
  readonly #server: Server;
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  readonly #events: HttpEvents;
  readonly #takesEvents: boolean;
  readonly #tools: ToolServer;
  readonly #open = new Set<MessageId>();
  /** The request whose stream is the one on which the client can be asked while it makes no call. The SDK refuses a second one. */
  #listening: Request | undefined;

  private constructor(tools: ToolServer, events: HttpEvents, { id, request, onEnd }: SessionStart) {
    this.#takesEvents = takesEvents(request);
    this.#tools = tools;
    this.#events = events;
    this.#connection = { ...connectionOf(tools, events), isQuiet: !this.#takesEvents };
    this.#server = createServer(tools, HttpServer);
    this.#server.onerror = (error) => events.onError(error);
    this.#server.onclose = onEnd;
    serveLegacy(this.#server, this.#connection);
    this.#transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      enableJsonResponse: !this.#takesEvents,
      keepAliveMs: KEEP_ALIVE,
    });
  }

  static async begin(tools: ToolServer, events: HttpEvents, start: SessionStart): Promise<SessionPeer> {
    const peer = new SessionPeer(tools, events, start);
    await peer.#connect();
    return peer;
  }

  async answer(request: Request, sent: Message | undefined): Promise<Response> {
    const id = sent !== undefined && isRequest(sent) ? sent.id : undefined;
    if (id !== undefined) {
      if (this.#open.has(id)) return refused(400, `Invalid request: ${ID_IN_USE}`, sent, INVALID_REQUEST);
      this.#open.add(id);
    }
    const cut = () => this.#cut(request, id);
    request.signal.addEventListener("abort", cut, { once: true });
    const taking = this.#takesEvents || sent === undefined ? request : acceptingEvents(request);
    const response = await this.#transport.handleRequest(taking, { parsedBody: sent && fromClient(sent) });
    if (response.status !== 200 && id !== undefined) this.#open.delete(id);
    if (request.method === "GET" && response.ok) {
      this.#listening = request;
      this.#tools.agent.askUser = askOutside(this.#server);
    }
    if (sent !== undefined) this.#endUnanswered(cancelledId(sent));
    if (request.signal.aborted) cut();
    return response;
  }

  async close(): Promise<void> {
    this.#connection.close();
    await this.#server.close();
  }

  async #connect(): Promise<void> {
    await this.#server.connect(this.#transport);
    const send = this.#transport.send.bind(this.#transport);
    this.#transport.send = (message, options) => {
      if (!("method" in message) && message.id !== undefined) this.#open.delete(message.id);
      return send(toClient(message), options);
    };
  }

  /** The client has closed the connection of a request: no answer can reach it any more. */
  #cut(request: Request, id: MessageId | undefined): void {
    if (request === this.#listening) {
      this.#listening = undefined;
      this.#tools.agent.askUser = undefined;
      this.#transport.closeStandaloneSSEStream();
    }
    if (id === undefined || !this.#open.has(id)) return;
    const params = { requestId: id, reason: "the connection was closed" };
    this.#transport.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params });
    this.#endUnanswered(id);
  }

  /** Ends the stream of a cancelled request, which the SDK leaves open. */
  #endUnanswered(id: unknown): void {
    if (!isId(id) || !this.#open.has(id)) return;
    this.#transport.send({ jsonrpc: "2.0", id, error: CANCELLED }).catch((error) => this.#events.onError(error));
  }
}

/** The same request from a client that would also take events, as the SDK demands. Its body has been read. */
function acceptingEvents(request: Request): Request {
  const headers = new Headers(request.headers);
  headers.set("accept", "application/json, text/event-stream");
  return new Request(request.url, { method: request.method, headers, signal: request.signal });
}
