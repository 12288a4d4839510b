import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { type CallToolResult, CallToolResultSchema, type JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { readJsonLines } from "./json-lines.js";
import { type Answering, type Asking, asking, blocks, type Finished, finished } from "./mcp-results.js";

/** A received message. */
export interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface DriverOptions {
  /** The protocol revision of all requests. Default: 2025-11-25. */
  readonly revision?: "2025-11-25" | "2026-07-28";
  /** Default: none. */
  readonly capabilities?: object;
}

/** The streams of a server, named as the server's. */
export interface ServerStreams {
  readonly stdin: Writable;
  readonly stdout: Readable;
}

/** A call that was sent and can be awaited or cancelled. */
export interface SentCall {
  readonly id: number;
  readonly result: Promise<CallToolResult>;
}

interface Waiting {
  readonly method: string;
  readonly resolve: (message: Message) => void;
  readonly reject: (error: Error) => void;
}

const CLIENT = { name: "test", version: "0" };

/** A client of an MCP server, in either protocol revision, that exchanges one JSON message per line and can send anything. */
export class McpDriver {
  /** Received messages that are not answers, oldest first. */
  readonly notifications: Message[] = [];
  readonly #streams: ServerStreams;
  readonly #options: DriverOptions;
  readonly #waiting = new Map<number, Waiting>();
  #sdk: Transport | undefined;
  #lastId = 0;
  /** Why the server answers no more. */
  #end: string | undefined;

  constructor(streams: ServerStreams, options: DriverOptions = {}) {
    this.#streams = streams;
    this.#options = options;
    readJsonLines<Message & JSONRPCMessage>(streams.stdout, (message) => this.#receive(message));
  }

  send(message: object): void {
    this.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  /** Sends a text, valid or not. */
  write(text: string): void {
    this.#streams.stdin.write(text);
  }

  /** Lets a client of the SDK receive all messages from now on. */
  handTo(sdk: Transport): void {
    this.#sdk = sdk;
  }

  /** Opens a connection of revision 2025-11-25. */
  async initialize(): Promise<void> {
    const { revision: protocolVersion = "2025-11-25", capabilities = {} } = this.#options;
    await this.request("initialize", { protocolVersion, capabilities, clientInfo: CLIENT });
    this.send({ method: "notifications/initialized" });
  }

  /** Sends a request with these parameters and returns the complete response. */
  exchange(method: string, params: object): Promise<Message> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise<Message>((resolve, reject) => {
      this.#waiting.set(id, { method, resolve, reject });
      if (this.#end !== undefined) reject(unanswered(method, this.#end));
    });
    this.send({ id, method, params });
    return answer;
  }

  /** Sends a request in the driver's revision and returns the result. An error of the protocol is thrown. */
  async request(method: string, params: object = {}): Promise<unknown> {
    const { result, error } = await this.exchange(method, this.inRevision(params));
    if (error !== undefined) throw new Error(`${error.code}: ${error.message}`);
    return result;
  }

  /** Returns the parameters as a request of the driver's revision has them. */
  inRevision(params: object): object {
    const { revision, capabilities = {} } = this.#options;
    if (revision !== "2026-07-28") return params;
    const envelope = {
      "io.modelcontextprotocol/protocolVersion": revision,
      "io.modelcontextprotocol/clientInfo": CLIENT,
      "io.modelcontextprotocol/clientCapabilities": capabilities,
    };
    return { ...params, _meta: { ...envelope, ...("_meta" in params && Object(params._meta)) } };
  }

  async call(name: string, args: object = {}): Promise<CallToolResult> {
    return this.startCall(name, args).result;
  }

  startCall(name: string, args: object = {}): SentCall {
    const id = this.#lastId + 1;
    const result = this.request("tools/call", { name, arguments: args, _meta: { progressToken: id } });
    return { id, result: result.then((value) => CallToolResultSchema.parse(value)) };
  }

  /** Calls a tool in revision 2026-07-28 and returns its result, which must be complete. */
  async finish(name: string, args: object, answering: Answering = {}): Promise<Finished> {
    return finished.parse(await this.request("tools/call", { name, arguments: args, ...answering }));
  }

  /** Calls a tool in revision 2026-07-28 and returns its question. */
  async ask(name: string, args: object, answering: Answering = {}): Promise<Asking> {
    return asking.parse(await this.request("tools/call", { name, arguments: args, ...answering }));
  }

  /** Cancels a request; by default the latest. */
  cancel(requestId = this.#lastId): void {
    this.send({ method: "notifications/cancelled", params: { requestId } });
  }

  /** Returns the text blocks of evaluate-lisp's answer. */
  async evaluate(code: string, options: object = {}): Promise<string[]> {
    return blocks(await this.call("evaluate-lisp", { code, ...options }));
  }

  /** Returns the image's process id from lisp-status. */
  async imagePid(): Promise<number> {
    const { structuredContent } = await this.call("lisp-status");
    const pid = structuredContent?.["pid"];
    if (typeof pid !== "number") throw new Error(`lisp-status gave no pid: ${JSON.stringify(structuredContent)}`);
    return pid;
  }

  /** Returns the first notification of this method, received already or not. */
  notified(method: string): Promise<Message> {
    return this.#notification((message) => message.method === method);
  }

  /** Returns the first progress of a call, received already or not; by default that of any call. */
  progressOf(call?: Pick<SentCall, "id">): Promise<Message> {
    return this.#notification(
      ({ method, params }) =>
        method === "notifications/progress" && (call === undefined || params?.["progressToken"] === call.id),
    );
  }

  /** Fails all pending and later requests. */
  protected fail(end: string): void {
    this.#end = end;
    for (const { method, reject } of this.#waiting.values()) reject(unanswered(method, end));
    this.#sdk?.onclose?.();
  }

  async #notification(wanted: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = this.notifications.find(wanted);
      if (found !== undefined) return found;
      await once(this.#streams.stdout, "data");
    }
  }

  #receive(message: Message & JSONRPCMessage): void {
    if (this.#sdk !== undefined) {
      this.#sdk.onmessage?.(message);
      return;
    }
    const { id = Number.NaN, method } = message;
    const waiting = this.#waiting.get(id);
    if (waiting === undefined || method !== undefined) this.notifications.push(message);
    else {
      this.#waiting.delete(id);
      waiting.resolve(message);
    }
  }
}

function unanswered(method: string, end: string): Error {
  return new Error(`The server did not answer ${method}: ${end}`);
}
