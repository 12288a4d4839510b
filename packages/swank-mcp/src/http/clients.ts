import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Log } from "../base/log.js";
import {
  answerOnNode,
  type HttpEvents,
  type HttpPeer,
  hasJson,
  isCall,
  kindOf,
  ModernPeer,
  refused,
  SessionPeer,
} from "../mcp/http-peer.js";
import { type Message, readMessage } from "../mcp/sent-message.js";
import { clientText } from "../mcp/server.js";
import { oneLine } from "../text/cut.js";
import type { ToolServer } from "../tools/tool-server.js";
import { MAX_ERROR } from "./limited-server.js";
import type { Identity } from "./tokens.js";

/** Most calls of one client, and of all clients, at a time. */
const MAX_CALLS = 8;

const MAX_ALL_CALLS = 64;

/** How often clients are looked at that may have gone, in milliseconds. */
const LONGEST_INTERVAL = 5000;

/** A name with which several clients that share a token are told apart. */
const SESSION = /^[\w.-]{1,64}$/;

/** One agent: an identity, or one of its sessions. */
interface Client {
  readonly key: string;
  readonly identity: Identity;
  readonly name: string;
  readonly tools: ToolServer;
  readonly peer: HttpPeer;
  /** Requests whose answers are not complete, and the calls among them. */
  open: number;
  calls: number;
  /** When the last request ended. */
  lastUsed: number;
}

export interface ClientsOptions {
  readonly maxClients: number;
  /** Minutes without a request after which a client is forgotten. */
  readonly sessionMinutes: number;
  /** Keys of the identities that still have a token; `undefined` for all. */
  keys(): ReadonlySet<string> | undefined;
  /** Makes the tools of a client, with an agent session and a connection to the image of its own. */
  openTools(name: string, person: string): ToolServer;
  readonly log: Log;
}

/** A request of Node's server, and its response. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/** The clients of the HTTP server. Each has its own agent session, which no request of another identity reaches. */
export class Clients {
  readonly #options: ClientsOptions;
  readonly #clients = new Map<string, Client>();
  readonly #timer: NodeJS.Timeout;
  #calls = 0;
  /** Sessions that are about to be clients. */
  #beginning = 0;
  #isEnding = false;

  constructor(options: ClientsOptions) {
    this.#options = options;
    const interval = Math.min(LONGEST_INTERVAL, options.sessionMinutes * 15_000);
    this.#timer = setInterval(() => this.#forget(), interval).unref();
  }

  /** Answers a request of this identity. Never rejects. */
  answer(identity: Identity, exchange: Exchange): Promise<void> {
    return answerOnNode(
      (request) => this.#answer(identity, request, exchange.res),
      exchange,
      (error) => this.#log(error.message),
    );
  }

  /** Answers running calls at once, and accepts no more. */
  cutOff(): void {
    this.#isEnding = true;
    for (const { tools } of this.#clients.values()) tools.cutOff();
  }

  /** Ends all clients. Never rejects. */
  async close(): Promise<void> {
    this.#isEnding = true;
    clearInterval(this.#timer);
    await Promise.all([...this.#clients.values()].map((client) => this.#end(client, "the server ends")));
  }

  async #answer(identity: Identity, request: Request, res: ServerResponse): Promise<Response> {
    if (request.method === "POST" && !hasJson(request)) return refused(415, "The body must be JSON: application/json.");
    const read = request.method === "POST" ? await readBody(request) : { sent: undefined };
    if ("answer" in read) return read.answer;
    const { sent } = read;
    // The body may have taken long.
    if (this.#isEnding) return refused(503, "The server is shutting down.", sent);
    const client = await this.#clientOf(identity, request, sent);
    if (client instanceof Response) return client;
    const isTool = isCall(sent);
    if (isTool && client.calls >= MAX_CALLS)
      return refused(429, `This client has ${MAX_CALLS} running calls, the maximum. Wait for their answers.`, sent);
    if (isTool && this.#calls >= MAX_ALL_CALLS)
      return refused(
        429,
        `The clients of this server have ${MAX_ALL_CALLS} running calls, the maximum. Try again.`,
        sent,
      );
    this.#hold(client, isTool ? 1 : 0, res);
    const response = await client.peer.answer(request, sent);
    if (!response.ok && client.lastUsed === 0 && client.open <= 1) void this.#end(client, "it could not begin");
    client.lastUsed = performance.now();
    return response;
  }

  /** Counts a request until its response is complete, or its connection is closed. */
  #hold(client: Client, calls: number, res: ServerResponse): void {
    if (res.destroyed || res.closed) return;
    client.open += 1;
    client.calls += calls;
    this.#calls += calls;
    res.once("close", () => {
      client.open -= 1;
      client.calls -= calls;
      this.#calls -= calls;
      client.lastUsed = performance.now();
    });
  }

  /** The client that sends a request, or the answer if it has none. */
  async #clientOf(identity: Identity, request: Request, sent: Message | undefined): Promise<Client | Response> {
    const session = new URL(request.url).searchParams.get("session") ?? undefined;
    if (session !== undefined && !SESSION.test(session))
      return refused(400, "The session has 1 to 64 letters, digits, dots, hyphens and underscores.", sent);
    const name = session === undefined ? identity.name : `${identity.name}/${session}`;
    switch (await kindOf(request, sent)) {
      case "modern":
        return this.#modern(identity, name, sent);
      case "initialize":
        return this.#begin(identity, name, request, sent);
      case "session":
        return this.#find(identity, request.headers.get("mcp-session-id"), sent);
    }
  }

  #modern(identity: Identity, name: string, sent: Message | undefined): Client | Response {
    const key = `${identity.key} ${name}`;
    const known = this.#clients.get(key);
    if (known !== undefined) return known;
    if (!this.#hasRoom(identity)) return this.#full(sent);
    const tools = this.#options.openTools(name, identity.key);
    const peer = new ModernPeer(tools, this.#events(tools, name));
    return this.#add({ key, identity, name, tools, peer });
  }

  async #begin(identity: Identity, name: string, request: Request, sent: Message | undefined) {
    if (request.headers.has("mcp-session-id")) return refused(400, "A session begins without an Mcp-Session-Id.", sent);
    if (!this.#hasRoom(identity)) return this.#full(sent);
    const tools = this.#options.openTools(name, identity.key);
    const key = randomUUID();
    const onEnd = () => {
      const client = this.#clients.get(key);
      if (client !== undefined) void this.#end(client, "it has ended its session");
    };
    this.#beginning += 1;
    try {
      const peer = await SessionPeer.begin(tools, this.#events(tools, name), { id: key, request, onEnd });
      return this.#add({ key, identity, name, tools, peer });
    } catch (error) {
      await tools.agent.host.close();
      tools.agent.close();
      throw error;
    } finally {
      this.#beginning -= 1;
    }
  }

  #find(identity: Identity, id: string | null, sent: Message | undefined): Client | Response {
    if (id === null) return refused(400, "This request needs a session: begin with initialize.", sent);
    const found = this.#clients.get(id);
    if (found?.identity.key === identity.key && found.peer instanceof SessionPeer) return found;
    return refused(
      404,
      "Session not found. It has expired, or the server was started again: begin with initialize.",
      sent,
      NOT_FOUND,
    );
  }

  /** Errors can quote what a client has sent. */
  #log(text: string): void {
    this.#options.log(`http: ${oneLine(text, MAX_ERROR)}`);
  }

  #add(added: Pick<Client, "key" | "identity" | "name" | "tools" | "peer">): Client {
    const client = { ...added, open: 0, calls: 0, lastUsed: 0 };
    this.#clients.set(client.key, client);
    return client;
  }

  /**
   * Whether there is room for another client. Clients rarely end their sessions when they go: of those with the same identity that have no
   * connection, the one that was used least recently makes room.
   */
  #hasRoom({ key }: Identity): boolean {
    const { maxClients } = this.#options;
    if (this.#clients.size + this.#beginning < maxClients) return true;
    const [oldest] = [...this.#clients.values()]
      .filter(({ identity, peer, open }) => identity.key === key && peer instanceof SessionPeer && open === 0)
      .sort((one, other) => one.lastUsed - other.lastUsed);
    if (oldest === undefined) return false;
    void this.#end(oldest, "another session of its identity has begun");
    return true;
  }

  #full(sent: Message | undefined): Response {
    const { maxClients } = this.#options;
    return refused(429, `This server has ${maxClients} clients, the maximum (--max-clients). Try again later.`, sent);
  }

  #events(tools: ToolServer, name: string): HttpEvents {
    const { log } = this.#options;
    return {
      onError: (error) => this.#log(`${name}: ${error.message}`),
      onClient: (client) => log(`client: ${name}, ${clientText(client)}`),
      // While the client reads the list, the image starts.
      onList: () => {
        if (tools.agent.config.attach === undefined) tools.agent.host.start();
      },
    };
  }

  /** Forgets clients that have sent nothing for some time, and those whose token was removed. */
  #forget(): void {
    const keys = this.#options.keys();
    const oldest = performance.now() - this.#options.sessionMinutes * 60_000;
    for (const client of this.#clients.values()) {
      if (keys?.has(client.identity.key) === false) void this.#end(client, "its token was removed");
      else if (client.open === 0 && client.lastUsed < oldest) void this.#end(client, "it has sent nothing for a while");
    }
  }

  /** Ends a client: its running calls, stops and breakpoints. The image goes on. Never rejects. */
  async #end(client: Client, why: string): Promise<void> {
    if (!this.#clients.delete(client.key)) return;
    const { tools, peer, name } = client;
    this.#options.log(`client: ${name} is forgotten: ${why}`);
    tools.cutOff();
    await peer.close().catch((error: Error) => this.#log(error.message));
    await tools.agent.host.close();
    tools.agent.close();
  }
}

/** JSON-RPC's code for a session that is not known, as the SDK uses it. */
const NOT_FOUND = -32001;

/** Reads the message in a request's body. */
async function readBody(request: Request): Promise<{ readonly sent: Message } | { readonly answer: Response }> {
  let body: unknown;
  try {
    body = await request.json();
  } catch {
    return { answer: refused(400, "Parse error: the body is not JSON.", undefined, -32700) };
  }
  const read = readMessage(body);
  if (read.kind === "message") return { sent: read.message };
  return {
    answer: read.kind === "bad" ? Response.json(read.answer, { status: 400 }) : new Response(null, { status: 202 }),
  };
}
