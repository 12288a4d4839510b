import { connect, type Socket } from "node:net";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import type { HttpAddress } from "./http-server.js";

const MODERN = "2026-07-28";

const BOTH = "application/json, text/event-stream";

const answerSchema = z.looseObject({
  id: z.union([z.string(), z.number()]).nullish(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
});

/** A message of the server. */
export type Answer = z.output<typeof answerSchema>;

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly accept?: string;
  readonly meta?: object;
  /** More members of the params. */
  readonly more?: object;
  readonly capabilities?: object;
}

/** A client that writes each request itself, in one of the two eras. */
export class HttpClient {
  readonly at: HttpAddress;
  /** The session of a client of the era of 2025. */
  session: string | undefined;
  #lastId = 0;

  constructor(at: HttpAddress) {
    this.at = at;
  }

  /** A client of the era of 2025 that has begun a session. */
  static async initialized(
    at: HttpAddress,
    { accept = BOTH, capabilities = {} }: CallOptions = {},
  ): Promise<HttpClient> {
    const client = new HttpClient(at);
    const clientInfo = { name: "raw", version: "0" };
    const params = { protocolVersion: "2025-11-25", capabilities, clientInfo };
    const response = await client.post({ jsonrpc: "2.0", id: 0, method: "initialize", params }, { accept });
    if (!response.ok) throw new Error(`initialize: ${response.status} ${await response.text()}`);
    client.session = response.headers.get("mcp-session-id") ?? undefined;
    await messagesOf(response);
    await client.post({ jsonrpc: "2.0", method: "notifications/initialized" }, { accept });
    return client;
  }

  /** Sends a message, and returns the response whatever its status is. */
  post(message: object, headers: Readonly<Record<string, string>> = {}, signal?: AbortSignal): Promise<Response> {
    return fetch(this.at.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: BOTH,
        authorization: `Bearer ${this.at.token}`,
        ...(this.session === undefined ? {} : { "mcp-session-id": this.session, "mcp-protocol-version": "2025-11-25" }),
        ...headers,
      },
      body: JSON.stringify(message),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** Sends a request of this client's era. */
  request(method: string, params: object = {}, options: CallOptions = {}): Promise<Response> {
    this.#lastId += 1;
    const { accept = BOTH, signal, meta = {}, capabilities = {} } = options;
    const message = { jsonrpc: "2.0", id: this.#lastId, method };
    if (this.session !== undefined)
      return this.post({ ...message, params: { ...params, _meta: meta } }, { accept }, signal);
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": MODERN,
      "io.modelcontextprotocol/clientInfo": { name: "raw", version: "0" },
      "io.modelcontextprotocol/clientCapabilities": capabilities,
      ...meta,
    };
    const name = "name" in params && typeof params.name === "string" ? { "mcp-name": params.name } : {};
    const headers = { accept, "mcp-protocol-version": MODERN, "mcp-method": method, ...name };
    return this.post({ ...message, params: { ...params, _meta } }, headers, signal);
  }

  /** Begins a call of a tool. */
  begin(name: string, args: object = {}, options: CallOptions = {}): Promise<Response> {
    return this.request("tools/call", { name, arguments: args, ...options.more }, options);
  }

  /** Calls a tool, and returns its result. */
  async call(name: string, args: object = {}, options: CallOptions = {}): Promise<CallToolResult> {
    const response = await this.begin(name, args, options);
    const messages = await messagesOf(response);
    const answer = messages.find((message) => message.result !== undefined);
    if (answer === undefined) throw new Error(`${response.status} ${JSON.stringify(messages)}`);
    return CallToolResultSchema.parse(answer.result);
  }

  /** Evaluates code, and returns the first text of the answer. */
  async evaluate(code: string, options: CallOptions = {}): Promise<string> {
    const [block] = (await this.call("evaluate-lisp", { code }, options)).content;
    return block?.type === "text" ? block.text : "";
  }

  /** Ends the session. */
  async delete(): Promise<Response> {
    const headers = { authorization: `Bearer ${this.at.token}`, "mcp-session-id": this.session ?? "" };
    return fetch(this.at.url, { method: "DELETE", headers });
  }
}

/** The messages of a response, which is JSON or a stream of events. */
export async function messagesOf(response: Response): Promise<readonly Answer[]> {
  const text = await response.text();
  if (!(response.headers.get("content-type") ?? "").includes("text/event-stream"))
    return text === "" ? [] : [answerSchema.parse(JSON.parse(text))];
  const data = text.split("\n").filter((line) => line.startsWith("data: "));
  return data.map((line) => answerSchema.parse(JSON.parse(line.slice("data: ".length))));
}

/** A connection whose bytes a test writes itself. */
export class RawConnection {
  readonly socket: Socket;
  /** Everything received, when the server has closed the connection. */
  readonly received: Promise<string>;

  constructor(port: number) {
    this.socket = connect(port, "127.0.0.1");
    this.received = new Promise((resolve) => {
      let text = "";
      this.socket.setEncoding("latin1").on("data", (data: string) => {
        text += data;
      });
      this.socket.on("error", () => undefined);
      this.socket.on("close", () => resolve(text));
    });
  }

  write(text: string): void {
    this.socket.write(text, "latin1");
  }
}

/** Writes bytes on a connection of their own, and returns what the server answers until it closes the connection. */
export async function answerTo(port: number, text: string): Promise<string> {
  const raw = new RawConnection(port);
  raw.write(text);
  return raw.received;
}

/** The status of the first response in received bytes. */
export function statusOf(received: string): number | undefined {
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(received) ?? [];
  return status === undefined ? undefined : Number(status);
}
